// By keyboard alone. Nothing in this file clicks.
import assert from "node:assert/strict";
import { test } from "node:test";

import { assertClean } from "./lib/browser.mjs";
import { DELETION, FOLDER } from "./lib/questions.mjs";
import { scene } from "./lib/scene.mjs";

const world = scene();

const focused = (page) => page.evaluate(() => document.activeElement?.closest("li")?.dataset.reference ?? document.activeElement?.name ?? "");

/** Presses Tab until what has the focus is `wanted`. */
async function tabTo(page, wanted, most = 60) {
  for (let at = 0; at < most; at += 1) {
    await page.keyboard.press("Tab");
    if (await wanted.evaluate((one) => one === document.activeElement)) return;
  }
  assert.fail(`Tab does not reach ${wanted}`);
}

test("the inbox: j and k move, Enter opens, a, d and x answer what one tap answers", async () => {
  const { server, you } = world;
  const ask = (title, seconds) => server.ask({ ...FOLDER, title, expires_in_seconds: seconds });
  const first = await ask("Open the folder A", 600);
  const second = await ask("Open the folder B", 700);
  const third = await ask("Open the folder C", 800);
  const final = await server.ask({ ...DELETION, expires_in_seconds: 900 });
  const page = await you.context.newPage();
  await page.goto("/inbox");
  const at = async (question) => assert.equal(await focused(page), question.reference);
  await page.keyboard.press("j");
  await at(first);
  await page.keyboard.press("j");
  await at(second);
  await page.keyboard.press("k");
  await at(first);
  await page.keyboard.press("k");
  await at(first);
  const row = (question) => page.locator(`[data-reference="${question.reference}"]`);

  await page.keyboard.press("?");
  await page.getByRole("status").getByText("Keys are off").waitFor();
  await page.keyboard.press("a");
  await page.keyboard.press("?");
  await page.getByRole("status").getByText("Keys are on").waitFor();
  assert.equal((await server.view(first)).status, "pending");

  await page.keyboard.press("a");
  await row(first).getByText("Approved").waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("d");
  await row(second).getByText("Declined").waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("x");
  await row(third).getByText("Dismissed").waitFor();
  const statuses = await Promise.all([first, second, third].map(async (one) => (await server.view(one)).status));
  assert.deepEqual(statuses, ["accept", "decline", "cancel"]);

  await page.keyboard.press("j");
  await at(final);
  await page.keyboard.press("Enter");
  await page.waitForURL(`**${final.path}`);
  assert.equal((await server.view(final)).status, "pending");
  assertClean(you.context);
  await page.close();
});

test("a on a question that needs more than a tap opens it and answers nothing", async () => {
  const { server, you } = world;
  await server.needs("code");
  const asked = await server.ask({ ...DELETION, title: "Delete 4 messages", expires_in_seconds: 300 });
  await server.needs("tap");
  const page = await you.context.newPage();
  await page.goto("/inbox");
  await page.keyboard.press("j");
  assert.equal(await focused(page), asked.reference);
  await page.keyboard.press("a");
  await page.waitForURL(`**${asked.path}`);
  assert.equal((await server.view(asked)).status, "pending");
  await page.close();
});

test("Space selects, and what is selected is answered together", async () => {
  const { server, you } = world;
  const asked = [];
  for (const title of ["Open the folder D", "Open the folder E"]) asked.push(await server.ask({ ...FOLDER, title, expires_in_seconds: 200 }));
  const page = await you.context.newPage();
  await page.goto("/inbox");
  await page.keyboard.press("j");
  await page.keyboard.press("Space");
  await page.keyboard.press("j");
  await page.keyboard.press("Space");
  for (const one of asked) assert.ok(await page.locator(`[data-reference="${one.reference}"]`).getByRole("checkbox").isChecked());
  await tabTo(page, page.getByRole("button", { name: "Answer the selected" }).first());
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Answer 2 questions" }).waitFor();
  await tabTo(page, page.getByRole("group", { name: "Open the folder D" }).getByLabel("Approve"));
  await page.keyboard.press("Space");
  await tabTo(page, page.getByRole("group", { name: "Open the folder E" }).getByLabel("Approve"));
  await page.keyboard.press("ArrowRight");
  await tabTo(page, page.getByRole("button", { name: "Send the answers I chose" }));
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "What came of your answers" }).waitFor();
  const statuses = await Promise.all(asked.map(async (one) => (await server.view(one)).status));
  assert.deepEqual(statuses, ["accept", "decline"]);
  await page.close();
});

test("the checkbox of a row says what it selects", async () => {
  const { server, you } = world;
  const asked = await server.ask({ ...FOLDER, title: "Open the folder F" });
  const page = await you.context.newPage();
  await page.goto("/inbox");
  const row = page.locator(`[data-reference="${asked.reference}"]`);
  assert.equal(await row.getByRole("checkbox", { name: `Select ${asked.reference}`, exact: true }).count(), 1, await row.ariaSnapshot());
  await page.close();
});

test("the decision page: the skip link first, every verdict by Tab, no focus that cannot be seen", async () => {
  const { server, you } = world;
  const asked = await server.ask(DELETION);
  const page = await you.context.newPage();
  await page.goto(asked.path);
  await page.keyboard.press("Tab");
  const skip = page.getByRole("link", { name: /^Skip/ });
  assert.ok(await skip.evaluate((one) => one === document.activeElement), "the first stop is the skip link");
  assert.ok((await skip.boundingBox()).width > 1, "the skip link shows when it has the focus");
  const stops = [];
  for (let at = 0; at < 60; at += 1) {
    const stop = await page.evaluate(() => {
      const one = document.activeElement;
      if (one === document.body) return null;
      const [box, style] = [one.getBoundingClientRect(), getComputedStyle(one)];
      const ring = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
      const near = one.closest("label, .pick, .row-check");
      const nearStyle = near && getComputedStyle(near);
      const nearRing = Boolean(near) && nearStyle.outlineStyle !== "none" && parseFloat(nearStyle.outlineWidth) > 0;
      return { what: `${one.tagName} ${one.name ?? ""} ${one.value ?? one.textContent.trim().slice(0, 30)}`.trim(), ring: ring || nearRing, seen: box.width > 1 && box.height > 1 };
    });
    if (!stop || stops.some((one) => one.what === stop.what && stop.what.includes("Skip"))) break;
    stops.push(stop);
    await page.keyboard.press("Tab");
  }
  assert.deepEqual(stops.filter((stop) => !stop.ring || !stop.seen), []);
  const verdicts = stops.map((stop) => stop.what).filter((what) => what.startsWith("BUTTON action")).map((what) => what.split(" ")[2]);
  assert.deepEqual(verdicts.slice(0, 3), ["accept", "decline", "cancel"]);
  await page.goto(asked.path);
  await tabTo(page, page.locator("summary").filter({ hasText: "Add a reason" }));
  await page.keyboard.press("Enter");
  await tabTo(page, page.getByLabel("In your words"));
  await page.keyboard.type("By keyboard.");
  await tabTo(page, page.locator("button[value=decline]"));
  await page.keyboard.press("Space");
  await page.getByRole("heading", { name: "You declined this" }).waitFor();
  assert.equal((await server.view(asked)).reason, "By keyboard.");
  await page.close();
});
