// What every answer to a browser carries, whatever it says: pages, redirects and errors.
import assert from "node:assert/strict";
import { test } from "node:test";

import { assertClean, device, signInHere, YOU } from "./lib/browser.mjs";
import { DELETION, FOLDER } from "./lib/questions.mjs";
import { cookiesOf, send } from "./lib/raw.mjs";
import { scene } from "./lib/scene.mjs";
import { Server } from "./lib/server.mjs";
import { until } from "./lib/until.mjs";

const world = scene();

const POLICY = {
  "default-src": "'none'", "style-src": "'self'", "script-src": "'self'", "connect-src": "'self'", "img-src": "'self'",
  "form-action": "'self'", "base-uri": "'none'", "frame-ancestors": "'none'",
};

function assertHeaders(what, { headers }) {
  const policy = Object.fromEntries((headers["content-security-policy"] ?? "").split(";").map((part) => part.trim().split(/ (.*)/, 2)));
  assert.deepEqual(policy, POLICY, `${what}: Content-Security-Policy`);
  assert.equal(headers["referrer-policy"], "same-origin", `${what}: Referrer-Policy`);
  assert.match(headers["x-robots-tag"] ?? "", /noindex/, `${what}: X-Robots-Tag`);
  assert.equal(headers["x-frame-options"], "DENY", `${what}: X-Frame-Options`);
  assert.equal(headers["x-content-type-options"], "nosniff", `${what}: X-Content-Type-Options`);
  assert.match(headers["cache-control"] ?? "", /no-store/, `${what}: Cache-Control`);
  assert.equal(headers["access-control-allow-origin"], undefined, `${what}: shared with other origins`);
  assert.equal(headers.server, undefined, `${what}: says what serves it`);
}

async function paths() {
  const asked = await world.server.ask(DELETION);
  const settled = await world.server.ask(FOLDER);
  await world.server.api("POST", `/v1/elicitations/${settled.id}/withdraw`, {});
  return [
    "/", "/inbox", "/inbox?view=final", "/inbox?view=mine", "/inbox?view=%ff", "/inbox/batch", `/inbox/batch?q=${asked.reference}`, "/me",
    "/signin", "/signin?tenant=demo", "/signin?tenant=%00", "/signin/demo", `/signin/demo?to=${asked.reference}`, "/signin/demo?to=//evil.example",
    "/signin/nobody", "/signin/%2e%2e", "/signin/demo/link/none", "/signin/demo/code", asked.path, settled.path, `/d/demo/${asked.id}`,
    "/d/demo/AAA-AAA", "/d/nobody/AAA-AAA", "/d/demo/%ff", "/d/demo", "/d", "/signout", "/me/revoke",
  ];
}

for (const isIn of [false, true]) {
  test(`every answer to somebody who is ${isIn ? "" : "not "}signed in carries the headers`, async () => {
    const { server, you } = world;
    const cookie = isIn ? await cookiesOf(you.context) : "";
    for (const path of await paths()) {
      for (const method of ["GET", "HEAD"]) {
        for (const accept of ["text/html,application/xhtml+xml", "application/json"]) {
          assertHeaders(`${method} ${path} as ${accept}`, await send(server, method, path, { headers: { cookie, accept } }));
        }
      }
      for (const origin of [undefined, "null", server.pages]) {
        const headers = { cookie, accept: "text/html", ...(origin && { origin }) };
        // Signing out is the one form that needs no more than a session.
        if (path === "/signout" && origin === server.pages) continue;
        const answer = await send(server, "POST", path, { headers, form: { email: "nobody@northwind.example" } });
        assert.ok(answer.status < 500, `POST ${path}: ${answer.status}`);
        assertHeaders(`POST ${path} from ${origin}`, answer);
      }
    }
  });
}

test("what is wrong with a person's request is told them as a page", async () => {
  const { server, you } = world;
  const headers = { cookie: await cookiesOf(you.context), accept: "text/html", origin: server.pages };
  const asked = await server.ask(FOLDER);
  const wrong = [
    ["GET", "/d/demo/AAA-AAA", {}, 404],
    ["POST", asked.path, { form: { action: "accept", csrf: "x" } }, 403],
    ["POST", asked.path, { form: { action: "accept", csrf: "x" }, headers: { origin: "http://evil.example" } }, 403],
    ["POST", asked.path, { form: { action: "accept" }, headers: { cookie: "" } }, 401],
    ["POST", asked.path, { form: { reason: "x".repeat(70_000) } }, 413],
    ["PUT", asked.path, {}, 405],
    ["GET", "/signin/demo/code", {}, 405],
  ];
  for (const [method, path, options, status] of wrong) {
    const answer = await send(server, method, path, { ...options, headers: { ...headers, ...options.headers } });
    const what = `${method} ${path}`;
    assert.equal(answer.status, status, what);
    assert.match(answer.headers["content-type"] ?? "", /^text\/html/, what);
    assert.match(answer.text, /<h1/, what);
    assertHeaders(what, answer);
  }
});

test("an unknown question and one of somebody else are the same to the byte", async () => {
  const { server, browser } = world;
  const mail = "ada@northwind.example";
  const ada = await server.api("POST", "/v1/approvers", { name: "Ada", email: mail });
  const { tiers } = await server.api("GET", "/v1/policy");
  const others = (await server.api("GET", "/v1/approvers")).approvers.filter((one) => one.id !== ada.id).map((one) => one.id);
  await server.api("PUT", "/v1/policy", { tiers: { ...tiers, read: { ...tiers.read, audience: others } }, self_approval: "allow" });
  const foreign = await server.ask(FOLDER);
  const context = await device(browser, server);
  const page = await context.newPage();
  await page.goto("/signin/demo");
  await signInHere(page, server, mail);
  await page.waitForURL("**/inbox");
  const headers = { cookie: await cookiesOf(context), accept: "text/html" };
  const [theirs, none] = [await send(server, "GET", foreign.path, { headers }), await send(server, "GET", "/d/demo/AAA-AAA", { headers })];
  assert.deepEqual([theirs.status, theirs.text], [404, none.text]);
  assert.equal(theirs.text.includes(foreign.reference), false);
  assertClean(context);
  await context.close();
});

test("cookies are out of reach of scripts, and the one that acts never comes from elsewhere", async () => {
  const { browser, server } = world;
  const context = await device(browser, server);
  const page = await context.newPage();
  await page.goto("/signin/demo");
  await signInHere(page, server, YOU, { remember: true });
  await page.waitForURL("**/inbox");
  const kept = Object.fromEntries((await context.cookies()).map((one) => [one.name, [one.httpOnly, one.sameSite, one.path]]));
  assert.deepEqual(kept, { cs: [true, "Lax", "/"], "cs-act": [true, "Strict", "/"], "cs-device": [true, "Lax", "/"] });
  assert.equal(await page.evaluate(() => document.cookie), "");
  await context.close();
});

test("behind https the cookies are host cookies and secure", async () => {
  const server = await Server.start({ COUNTERSIGN_BASE_URL: "https://countersign.example" });
  try {
    const [listens] = await until("it says where it listens", () => server.log.match(/http:\/\/127\.0\.0\.1:\d+/));
    const link = new URL(server.ready.signin_url);
    assert.equal(link.origin, "https://countersign.example");
    const { headers, status } = await send({ pages: listens }, "POST", link.pathname, { headers: { origin: link.origin } });
    assert.deepEqual([status, headers["set-cookie"]?.length], [303, 2]);
    for (const line of headers["set-cookie"]) assert.match(line, /^__Host-cs(-act)?=[^;]+; Path=\/; Max-Age=\d+; HttpOnly; SameSite=(Lax|Strict); Secure$/);
  } finally {
    await server.stop();
  }
});
