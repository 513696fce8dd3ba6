// Everything again with scripts off: pages, forms and nothing else.
import assert from "node:assert/strict";
import { test } from "node:test";

import { approve, assertClean, decline, device, PHONE, signInHere, YOU } from "./lib/browser.mjs";
import { DELETION, fillSupplier, FOLDER, FORM, SUPPLIED } from "./lib/questions.mjs";
import { scene } from "./lib/scene.mjs";

const world = scene({ signIn: false });

test("from the link in the mail to the asker's answer, without a script", async () => {
  const { browser, server } = world;
  const form = await server.ask(FORM);
  const context = await device(browser, server, { javaScriptEnabled: false, viewport: PHONE });
  const page = await context.newPage();
  await page.goto((await server.outbox()).find((message) => message.reference === form.reference).link);
  await signInHere(page, server, YOU);
  await page.waitForURL(`**${form.path}`);
  await page.getByText(/decide by .* UTC, read at .* UTC/i).waitFor();

  await fillSupplier(page, { term: 0 });
  await approve(page).click();
  await page.getByText("Enter a whole number from 1 to 90.").first().waitFor();
  await page.getByLabel("Payment term in days").fill(String(SUPPLIED.term));
  await approve(page).click();
  await page.getByRole("heading", { name: "You approved this" }).waitFor();
  assert.deepEqual((await server.view(form)).content, SUPPLIED);

  const final = await server.ask(DELETION);
  await page.getByRole("link", { name: "Countersign" }).click();
  await page.getByRole("heading", { name: "1 question waits for you" }).waitFor();
  await page.getByRole("link", { name: DELETION.title }).click();
  await page.getByText("Add a reason, if you like").click();
  await page.getByLabel("Not now").check();
  await page.getByLabel("In your words").fill("Ask Mara.");
  await decline(page).click();
  await page.getByRole("heading", { name: "You declined this" }).waitFor();
  const seen = await server.view(final);
  assert.deepEqual([seen.status, seen.reason], ["decline", "Not now. Ask Mara."]);

  const batch = [];
  for (const name of ["Payroll", "Board", "Legal"]) batch.push(await server.ask({ ...FOLDER, title: `Open the folder ${name}` }));
  await page.goto("/inbox");
  for (const one of batch) await page.locator(`[data-reference="${one.reference}"]`).getByRole("checkbox").check();
  await page.getByRole("button", { name: "Answer the selected" }).first().click();
  await page.getByRole("heading", { name: "Answer 3 questions" }).waitFor();
  assert.equal(await page.locator("input:checked").count(), 0, "no verdict is preset");
  await page.getByRole("group", { name: "Open the folder Payroll" }).getByLabel("Approve").check();
  await page.getByRole("group", { name: "Open the folder Board" }).getByLabel("Decline").check();
  await page.getByRole("button", { name: "Send the answers I chose" }).click();
  await page.getByRole("heading", { name: "What came of your answers" }).waitFor();
  const came = await Promise.all(batch.map(async (one) => (await server.view(one)).status));
  assert.deepEqual(came, ["accept", "decline", "pending"]);

  await page.getByRole("button", { name: "Sign out" }).click();
  await page.waitForURL("**/signin/demo");
  await page.goto(batch[2].path);
  assert.equal(new URL(page.url()).pathname, "/signin/demo");
  assertClean(context);
  await context.close();
});
