// What happens on a page that lies open: the script's part.
import assert from "node:assert/strict";
import { test } from "node:test";

import { approve, assertClean, decline, device, PHONE } from "./lib/browser.mjs";
import { fillSupplier, FOLDER, FORM, SUPPLIED } from "./lib/questions.mjs";
import { scene } from "./lib/scene.mjs";

const world = scene();

/** Another device of the same person. */
async function other(options) {
  return device(world.browser, world.server, { storageState: await world.you.context.storageState(), ...options });
}

test("an answer on one device settles the open page and the row in the inbox of another", async () => {
  const { server, you } = world;
  const [asked, stays] = [await server.ask(FORM), await server.ask(FOLDER)];
  const phone = await other({ viewport: PHONE });
  const [open, inbox, far] = [await you.context.newPage(), await you.context.newPage(), await phone.newPage()];
  await Promise.all([open.goto(asked.path), inbox.goto("/inbox"), far.goto(asked.path)]);
  await fillSupplier(open);
  const row = inbox.locator(`[data-reference="${asked.reference}"]`);
  await row.getByText("left").waitFor();
  await decline(far).click();
  await far.getByRole("heading", { name: "You declined this" }).waitFor();
  // A page that lies behind another asks less often: what is looked at is in front.
  await open.bringToFront();
  const note = open.getByRole("status").filter({ hasText: "Declined" });
  await note.getByText("Nothing that is typed here can be sent any more.").waitFor();
  assert.equal(await open.getByLabel("Supplier name").inputValue(), SUPPLIED.name);
  assert.ok(await approve(open).isDisabled());
  await inbox.bringToFront();
  await row.getByText("Declined").waitFor();
  assert.equal(await inbox.locator(`[data-reference="${stays.reference}"]`).getByText("left").count(), 1);
  assert.equal(new URL(inbox.url()).pathname, "/inbox");
  await open.bringToFront();
  await note.getByRole("link", { name: "See what came of it" }).click();
  await open.getByRole("heading", { name: "You declined this" }).waitFor();
  assertClean(you.context, phone);
  for (const one of [open, inbox, phone]) await one.close();
});

test("a new question announces itself and moves no row under the finger", async () => {
  const { server, you } = world;
  const first = await server.ask({ ...FOLDER, title: "Open the folder Board" });
  const page = await you.context.newPage();
  await page.goto("/inbox");
  const rows = () => page.locator("li[data-reference]").evaluateAll((all) => all.map((row) => row.dataset.reference));
  const before = await rows();
  assert.ok(before.includes(first.reference));
  const second = await server.ask({ ...FOLDER, title: "Open the folder Legal", expires_in_seconds: 300 });
  await page.getByRole("status").getByText("1 new question").waitFor();
  assert.deepEqual(await rows(), before);
  await page.getByRole("link", { name: "Show it" }).click();
  await page.locator(`[data-reference="${second.reference}"]`).waitFor();
  assertClean(you.context);
  await page.close();
});

test("the outcome says so when the asker has picked the answer up", async () => {
  const { server, you } = world;
  const asked = await server.askFallback("picked-1", "Open the folder?");
  const page = await you.context.newPage();
  await page.goto(asked.path);
  await approve(page).click();
  await page.getByText("The agent has not come back for the answer yet.").waitFor();
  assert.equal((await server.poll(asked.id)).action, "accept");
  await page.getByText(/^The agent picked this up/).waitFor();
  assertClean(you.context);
  await page.close();
});

test("the countdown goes by the server's clock, not by the device's", async () => {
  const { server, you } = world;
  const asked = await server.ask({ ...FOLDER, title: "Open the folder Audit", expires_in_seconds: 300 });
  const wrong = await other();
  await wrong.clock.setFixedTime(new Date("2031-05-05T05:05:05Z"));
  const page = await wrong.newPage();
  await page.goto(asked.path);
  assert.match(await page.locator("#clock-left").textContent(), /^[45]:\d\d left$/);
  const own = await you.context.newPage();
  await own.goto(asked.path);
  const shown = own.locator("#clock-left");
  const first = await shown.textContent();
  await own.waitForFunction((text) => document.getElementById("clock-left").textContent !== text, first);
  assertClean(wrong);
  await own.close();
  await wrong.close();
});
