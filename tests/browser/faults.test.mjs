// The store fails while somebody answers: nothing that was typed is lost, and the same button is enough.
import assert from "node:assert/strict";
import { afterEach, test } from "node:test";

import { approve, assertClean } from "./lib/browser.mjs";
import { fillSupplier, FOLDER, FORM, SUPPLIED } from "./lib/questions.mjs";
import { scene } from "./lib/scene.mjs";

const FOREVER = 100_000;
const world = scene();
afterEach(() => world.server.fault("any", "error", 0));

/** A form of thirteen fields, filled in. */
async function filledIn() {
  const { server, you } = world;
  const asked = await server.ask(FORM);
  const page = await you.context.newPage();
  await page.goto(asked.path);
  await fillSupplier(page);
  return { asked, page };
}

/** Presses and answers with the status that came. */
async function press(page, button) {
  const posted = page.waitForResponse((response) => response.request().method() === "POST", { timeout: 60_000 });
  await button.click({ noWaitAfter: true });
  const status = (await posted).status();
  await page.waitForLoadState();
  return status;
}

async function assertArrived(page, asked) {
  await page.getByRole("heading", { name: "You approved this" }).waitFor();
  const seen = await world.server.view(asked);
  assert.deepEqual([seen.status, seen.content], ["accept", SUPPLIED]);
  assertClean(world.you.context);
  await page.close();
}

test("a write that fails keeps the form as it was typed", async () => {
  const { server } = world;
  const { asked, page } = await filledIn();
  await server.fault("transact", "error", FOREVER);
  assert.equal(await press(page, approve(page)), 503);
  await page.getByRole("heading", { name: "Your answer was not saved" }).waitFor();
  assert.equal(await page.getByLabel("Supplier name").inputValue(), SUPPLIED.name);
  assert.equal(await page.getByLabel("First payment run").inputValue(), SUPPLIED.run.slice(0, 16));
  assert.ok(await page.getByRole("group", { name: "Delivers to" }).getByLabel("DE").isChecked());
  await server.fault("transact", "error", 0);
  assert.equal((await server.view(asked)).status, "pending");
  await press(page, approve(page));
  await assertArrived(page, asked);
});

test("a store that cannot even be read gives everything back to be sent again", async () => {
  const { server } = world;
  const { asked, page } = await filledIn();
  await server.fault("any", "error", FOREVER);
  assert.equal(await press(page, approve(page)), 503);
  await page.getByRole("heading", { name: "Your answer was not saved" }).waitFor();
  const again = page.getByRole("button", { name: "Send my answer again" });
  assert.equal(await press(page, again), 503);
  await server.fault("any", "error", 0);
  assert.equal((await server.view(asked)).status, "pending");
  await press(page, again);
  await assertArrived(page, asked);
});

test("an answer that was stored although it looked lost counts once", async () => {
  const { server } = world;
  const { asked, page } = await filledIn();
  await server.fault("transact", "apply_then_error", FOREVER);
  const status = await press(page, approve(page));
  await server.fault("transact", "apply_then_error", 0);
  if (status === 503) await press(page, approve(page));
  await assertArrived(page, asked);
});

test("an inbox that cannot be read says so, and does not look empty", async () => {
  const { server, you } = world;
  await server.ask(FOLDER);
  const page = await you.context.newPage();
  await server.fault("query", "error", FOREVER);
  assert.equal((await page.goto("/inbox")).status(), 503);
  await page.getByRole("heading", { name: "We cannot read your questions right now" }).waitFor();
  await server.fault("query", "error", 0);
  await page.getByRole("link", { name: "Try again" }).click();
  await page.getByRole("link", { name: FOLDER.title }).waitFor();
  await page.close();
});

test("a question that cannot be read says so, and not that it is none", async () => {
  const { server, you } = world;
  const asked = await server.ask(FOLDER);
  const page = await you.context.newPage();
  await server.fault("any", "error", FOREVER);
  assert.ok((await page.goto(asked.path)).status() >= 500);
  assert.equal(await page.getByText("No question for you here").count(), 0);
  assert.match(await page.locator("main").textContent(), /Nothing was lost|Try again/);
  await server.fault("any", "error", 0);
  await page.reload();
  await page.getByRole("heading", { name: FOLDER.title }).waitFor();
  await page.close();
});
