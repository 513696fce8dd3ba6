import assert from "node:assert/strict";
import { test } from "node:test";

import { approve, assertClean, codeFor, codesSent, decline, device, signedIn, signInHere, YOU } from "./lib/browser.mjs";
import { DELETION, FOLDER } from "./lib/questions.mjs";
import { scene } from "./lib/scene.mjs";

const MINUTE = 60_000;
const world = scene({ signIn: false });
const heading = (page) => page.getByRole("heading", { level: 1 }).textContent();

test("a link in a mail leads through the mailed code to its question", async () => {
  const { browser, server } = world;
  const asked = await server.ask(FOLDER);
  const mail = (await server.outbox()).find((message) => message.reference === asked.reference);
  const context = await device(browser, server);
  const page = await context.newPage();
  await page.goto(mail.link);
  assert.equal(new URL(page.url()).pathname, "/signin/demo");
  await signInHere(page, server, YOU);
  await page.waitForURL(`**${asked.path}`);
  assert.equal(await heading(page), FOLDER.title);
  assert.equal((await server.view(asked)).status, "pending");
  assertClean(context);
  await context.close();
});

test("a wrong code says how many tries are left, and after five no code works", async () => {
  const { browser, server } = world;
  await server.advance(11 * MINUTE);
  const context = await device(browser, server);
  const page = await context.newPage();
  await page.goto("/signin/demo");
  const before = await codesSent(server, YOU);
  await page.getByLabel("Your work e-mail").fill(YOU);
  await page.keyboard.press("Enter");
  const code = await codeFor(server, YOU, before);
  const wrong = code === "111111" ? "222222" : "111111";
  const attempt = await page.locator("input[name=attempt]").inputValue();
  for (const left of ["4 tries", "3 tries", "2 tries", "1 try"]) {
    await page.getByLabel("6-digit code").fill(wrong);
    await page.keyboard.press("Enter");
    await page.getByText(`That is not the code we mailed. ${left} left.`).waitFor();
    assert.equal(await page.getByLabel("6-digit code").getAttribute("aria-invalid"), "true");
  }
  await page.getByLabel("6-digit code").fill(wrong);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "This code no longer works" }).waitFor();
  const right = { headers: { origin: server.pages }, form: { attempt, code } };
  assert.equal((await context.request.post("/signin/demo/code", right)).status(), 422);
  assert.deepEqual((await context.cookies()).map((one) => one.name), []);
  assertClean(context);
  await context.close();
});

test("an address that nobody has looks like one that somebody has", async () => {
  const { browser, server } = world;
  await server.advance(11 * MINUTE);
  const context = await device(browser, server);
  const page = await context.newPage();
  const shown = [];
  for (const mail of [YOU, "nobody@northwind.example"]) {
    await page.goto("/signin/demo");
    await page.getByLabel("Your work e-mail").fill(mail);
    await page.getByRole("button", { name: "Mail me a code", exact: true }).click();
    await page.getByLabel("6-digit code").waitFor();
    shown.push((await page.locator("body").ariaSnapshot()).replaceAll(mail, "MAIL"));
  }
  assert.equal(shown[0], shown[1]);
  await server.tick();
  assert.equal(await codesSent(server, "nobody@northwind.example"), 0);
  await context.close();
});

test("a code with a space in it is the code, and a new code replaces the old one", async () => {
  const { browser, server } = world;
  await server.advance(11 * MINUTE);
  const context = await device(browser, server);
  const page = await context.newPage();
  await page.goto("/signin/demo");
  const before = await codesSent(server, YOU);
  await page.getByLabel("Your work e-mail").fill(YOU);
  await page.getByRole("button", { name: "Mail me a code", exact: true }).click();
  await codeFor(server, YOU, before);
  await page.getByRole("button", { name: "Mail me a new code" }).click();
  const code = await codeFor(server, YOU, before + 1);
  await page.getByLabel("6-digit code").fill(`${code.slice(0, 3)} ${code.slice(3)}`);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL("**/inbox");
  await context.close();
});

test("a remembered device comes back without a mail, for what can be undone only", async () => {
  const { browser, server } = world;
  await server.advance(11 * MINUTE);
  const { context, page } = await signedIn(browser, server, { remember: true });
  const [final, plain] = [await server.ask(DELETION), await server.ask(FOLDER)];
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.waitForURL("**/signin/demo");
  await page.goto(final.path);
  await page.getByRole("button", { name: "Continue on this remembered device" }).click();
  await page.waitForURL(`**${final.path}`);
  await page.getByRole("heading", { name: "Approving this needs a mailed code to sign in" }).waitFor();
  assert.equal(await approve(page).count(), 0);
  assert.equal(await decline(page).count(), 1);
  await page.goto(plain.path);
  await approve(page).click();
  await page.getByRole("heading", { name: "You approved this" }).waitFor();
  await page.goto(final.path);
  await page.getByRole("link", { name: "Sign in by mailed code" }).click();
  await signInHere(page, server, YOU);
  await page.waitForURL(`**${final.path}`);
  await approve(page).click();
  await page.getByRole("heading", { name: "You approved this" }).waitFor();
  assertClean(context);
  await context.close();
});

test("signing out ends the session on the server, not only in the browser", async () => {
  const { browser, server } = world;
  await server.advance(11 * MINUTE);
  const { context, page } = await signedIn(browser, server);
  const kept = await context.storageState();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.waitForURL("**/signin/demo");
  assert.deepEqual((await context.cookies()).map((one) => one.name), []);
  const thief = await device(browser, server, { storageState: kept });
  const stolen = await thief.newPage();
  await stolen.goto("/inbox");
  assert.match(new URL(stolen.url()).pathname, /^\/signin/);
  await thief.close();
  await context.close();
});

test("a device is signed out from another one, and a remembered one is forgotten", async () => {
  const { browser, server } = world;
  await server.advance(11 * MINUTE);
  const lost = await signedIn(browser, server, { remember: true, userAgent: "Mozilla/5.0 (iPhone) Safari/605" });
  const own = await signedIn(browser, server);
  await own.page.getByRole("link", { name: YOU }).click();
  const row = own.page.getByRole("region", { name: "Signed in now" }).getByRole("listitem").filter({ hasText: "Safari on iPhone" });
  await row.getByRole("button", { name: "Sign out there" }).click();
  await row.waitFor({ state: "detached" });
  const remembered = own.page.getByRole("region", { name: "Remembered devices" });
  const rows = remembered.getByRole("listitem").filter({ hasText: "Safari on iPhone" });
  await rows.getByRole("button", { name: "Forget it" }).click();
  await rows.waitFor({ state: "detached" });
  await lost.page.goto("/inbox");
  const back = lost.page.getByRole("button", { name: "Continue on this remembered device" });
  assert.equal(new URL(lost.page.url()).pathname, "/signin/demo");
  await back.click();
  await lost.page.getByText("This device is not remembered any more.").waitFor();
  await own.page.goto("/inbox");
  assert.equal(await heading(own.page), "Nothing waits for you");
  assertClean(own.context, lost.context);
  await own.context.close();
  await lost.context.close();
});

test("the one-time link of a local server signs in by its button, once", async () => {
  const { browser, server } = world;
  const link = server.ready.signin_url;
  // The clock of this file has moved on, and the link is good for an hour.
  await server.setClock(Date.now());
  const context = await device(browser, server);
  const page = await context.newPage();
  for (const _ of [1, 2, 3]) {
    await page.goto(link);
    await page.getByRole("heading", { name: "Sign in on this computer" }).waitFor();
  }
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL("**/inbox");
  const second = await device(browser, server);
  const again = await second.newPage();
  await again.goto(link);
  await again.getByRole("button", { name: "Sign in" }).click();
  await again.getByRole("heading", { name: "This link no longer works" }).waitFor();
  assertClean(context, second);
  await context.close();
  await second.close();
});
