// Requests as they are, with any header: what scanners send, and what no browser would.
import { request } from "node:http";

/** Sends one and answers `{status, headers, text}`; follows nothing. */
export function send(server, method, path, { headers = {}, form } = {}) {
  const body = form === undefined ? undefined : new URLSearchParams(form).toString();
  const type = body === undefined ? {} : { "content-type": "application/x-www-form-urlencoded", "content-length": Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const sent = request(server.pages + path, { method, headers: { ...type, ...headers } }, (answer) => {
      let text = "";
      answer.setEncoding("utf8");
      answer.on("data", (part) => (text += part));
      answer.on("end", () => resolve({ status: answer.statusCode, headers: answer.headers, text }));
      answer.on("error", reject);
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

/** The cookies of a device, as the header of a request. */
export async function cookiesOf(context) {
  return (await context.cookies()).map((one) => `${one.name}=${one.value}`).join("; ");
}
