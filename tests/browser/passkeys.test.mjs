import assert from "node:assert/strict";
import { test } from "node:test";

import { approve, assertClean, decline } from "./lib/browser.mjs";
import { authenticator, enrol } from "./lib/passkey.mjs";
import { DELETION, FORM, fillSupplier } from "./lib/questions.mjs";
import { scene } from "./lib/scene.mjs";

const world = scene();

async function fresh() {
  await world.server.needs("passkey");
  await world.server.forgetPasskeys();
  return world.you.context.newPage();
}

test("a passkey is added on one's own page, and approves what takes one", async () => {
  const { server } = world;
  const page = await fresh();
  const keys = await enrol(page);
  assert.equal((await keys.credentials()).length, 1);
  const asked = await server.ask(DELETION);
  await page.goto(asked.path);
  await approve(page).click();
  await page.getByRole("heading", { name: "You approved this" }).waitFor();
  const seen = await server.view(asked);
  assert.deepEqual([seen.status, seen.decided_by.method], ["accept", "passkey"]);
  await page.getByText("with a passkey").waitFor();
  assertClean(world.you.context);
  await page.close();
});

test("whoever stops at the device's question loses nothing, and may go on", async () => {
  const { server } = world;
  const page = await fresh();
  const keys = await enrol(page);
  const asked = await server.ask(FORM);
  await page.goto(asked.path);
  await fillSupplier(page);
  await keys.fail();
  await approve(page).click();
  await page.getByRole("heading", { name: "No passkey was used" }).waitFor();
  assert.equal((await server.view(asked)).status, "pending");
  assert.equal(await page.getByLabel("Payment term in days").inputValue(), "30");
  await keys.mend();
  await approve(page).click();
  await page.getByRole("heading", { name: "You approved this" }).waitFor();
  assert.equal((await server.view(asked)).decided_by.method, "passkey");
  await page.close();
});

test("who has no passkey is led to add one, and declines without", async () => {
  const { server } = world;
  const page = await fresh();
  await authenticator(page);
  const asked = await server.ask(DELETION);
  await page.goto(asked.path);
  await page.getByRole("heading", { name: "Approving this needs a passkey" }).waitFor();
  assert.equal(await approve(page).count(), 0);
  await page.getByRole("link", { name: "Add a passkey" }).click();
  await page.getByRole("button", { name: "Add a passkey" }).click();
  await page.getByText("Not used yet").waitFor();
  await page.goto(asked.path);
  await approve(page).waitFor();
  await decline(page).click();
  await page.getByRole("heading", { name: "You declined this" }).waitFor();
  await page.close();
});

test("a passkey that is there vouches for its own end, and a device has one of a person's only", async () => {
  const page = await fresh();
  await enrol(page);
  await page.getByRole("button", { name: "Add a passkey" }).click();
  await page.getByRole("heading", { name: "This device has a passkey of yours already" }).waitFor();
  await page.getByRole("button", { name: /^Remove it/ }).click();
  await page.getByText("You have none yet.").waitFor();
  await page.close();
});
