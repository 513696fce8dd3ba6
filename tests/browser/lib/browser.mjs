// People: a browser, and devices of theirs in it. Nothing in it reaches any other machine.
import assert from "node:assert/strict";
import { chromium } from "playwright-core";

import { until } from "./until.mjs";

const WAIT_MS = 30_000;

/** A browser that finds no host but this machine. */
export function launch() {
  return chromium.launch({
    executablePath: process.env.COUNTERSIGN_CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1"],
  });
}

export const PHONE = { width: 375, height: 812 };
export const DESK = { width: 1280, height: 900 };

/** A device: cookies of its own. `strays` collects what it should never do. */
export async function device(browser, server, options = {}) {
  const context = await browser.newContext({ baseURL: server.pages, viewport: DESK, locale: "en-GB", timezoneId: "UTC", ...options });
  context.setDefaultTimeout(WAIT_MS);
  context.strays = [];
  context.on("request", (request) => {
    if (!request.url().startsWith(`${server.pages}/`)) context.strays.push(`asked for ${request.url()}`);
  });
  context.on("weberror", (error) => context.strays.push(`script: ${error.error()}`));
  context.on("console", (message) => {
    // A page of a 4xx or 5xx is told to the console by the browser itself, and is what the specs look at.
    const isStatus = message.text().startsWith("Failed to load resource: the server responded with a status of");
    if (message.type() === "error" && !isStatus) context.strays.push(`console: ${message.text()}`);
  });
  return context;
}

/** The code of the newest mail to `mail` that has come since `before` was counted. */
export async function codeFor(server, mail, before) {
  const isCode = (message) => message.to === mail && message.code;
  const found = await until(`a code for ${mail}`, async () => {
    await server.tick();
    return (await server.outbox()).filter(isCode).slice(before)[0];
  });
  return found.code;
}

export async function codesSent(server, mail) {
  return (await server.outbox()).filter((message) => message.to === mail && message.code).length;
}

/** Types address and code on the sign-in page that `page` shows. */
export async function signInHere(page, server, mail, { remember = false } = {}) {
  const before = await codesSent(server, mail);
  await page.getByLabel("Your work e-mail").fill(mail);
  await page.getByRole("button", { name: "Mail me a code", exact: true }).click();
  await page.getByLabel("6-digit code").fill(await codeFor(server, mail, before));
  if (remember) await page.getByRole("checkbox").check();
  await page.getByRole("button", { name: "Sign in" }).click();
}

export const YOU = "you@localhost";

/** A device of somebody who is signed in by mailed code, at the inbox. */
export async function signedIn(browser, server, { mail = YOU, remember = false, ...options } = {}) {
  const context = await device(browser, server, options);
  const page = await context.newPage();
  await page.goto("/signin/demo");
  await signInHere(page, server, mail, { remember });
  await page.waitForURL("**/inbox");
  return { context, page };
}

/** Nothing went where it should not, and no script failed. */
export function assertClean(...contexts) {
  for (const context of contexts) assert.deepEqual(context.strays, []);
}

export const approve = (page) => page.getByRole("button", { name: /^Approve/ });
export const decline = (page) => page.getByRole("button", { name: /^Decline/ });
export const dismiss = (page) => page.getByRole("button", { name: /^Dismiss/ });
