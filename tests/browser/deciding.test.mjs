import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { approve, assertClean, codeFor, codesSent, decline, dismiss, PHONE, signedIn, signInHere, YOU } from "./lib/browser.mjs";
import { DELETION, fillSupplier, FOLDER, FORM, SUPPLIED, SUPPLIER } from "./lib/questions.mjs";
import { scene } from "./lib/scene.mjs";

const world = scene();

/** A page of `you` at the question. */
async function at(question) {
  const page = await world.you.context.newPage();
  await page.goto(question.path);
  return page;
}

test("what was typed into thirteen fields of nine kinds is what the asker polls", async () => {
  const { server } = world;
  const asked = await server.askFallback("supplier-1", "Add this supplier.", { requestedSchema: SUPPLIER });
  assert.equal((await server.poll(asked.id)).action, "pending");
  const page = await at(asked);
  await fillSupplier(page);
  await approve(page).click();
  await page.getByRole("heading", { name: "You approved this" }).waitFor();
  const polled = await server.poll(asked.id);
  assert.deepEqual([polled.action, polled.content], ["accept", SUPPLIED]);
  assertClean(world.you.context);
  await page.close();
});

test("mistakes are named beside their fields, and everything that was typed is still there", async () => {
  const { server } = world;
  const asked = await server.ask(FORM);
  const page = await at(asked);
  await fillSupplier(page, { mail: "nobody", term: 91, limit: "a lot" });
  await page.getByText("Add a reason, if you like").click();
  await page.getByLabel("In your words").fill("two lines\nof reason");
  await approve(page).click();
  const alert = page.getByRole("alert");
  await alert.getByRole("heading", { name: "Nothing was sent. 3 answers need a change" }).waitFor();
  assert.equal((await server.view(asked)).status, "pending");
  assert.ok(await alert.evaluate((box) => box === document.activeElement), "the summary has the focus");
  const said = {
    "Accounts contact": "Enter an e-mail address, such as mara@northwind.example.",
    "Credit limit in euros": "Enter a number from 0 to 50000, such as 12.5.",
    "Payment term in days": "Enter a whole number from 1 to 90.",
  };
  const typed = { "Accounts contact": "nobody", "Credit limit in euros": "a lot", "Payment term in days": "91" };
  for (const [label, text] of Object.entries(said)) {
    const field = page.getByLabel(label);
    const about = await field.getAttribute("aria-describedby");
    const shown = await page.locator(about.split(" ").map((id) => `#${id}`).join(",")).allTextContents();
    assert.ok(shown.some((one) => one.trim() === text), `${label}: ${shown}`);
    assert.equal(await field.inputValue(), typed[label]);
    assert.equal(await field.getAttribute("aria-invalid"), "true");
  }
  assert.equal(await page.locator("[aria-invalid=true]").count(), 3);
  await alert.getByRole("link", { name: "Payment term in days" }).click();
  assert.ok(await page.getByLabel("Payment term in days").evaluate((field) => field === document.activeElement));
  assert.equal(await page.getByLabel("In your words").inputValue(), "two lines\nof reason");
  await page.getByLabel("Accounts contact").fill(SUPPLIED.mail);
  await page.getByLabel("Credit limit in euros").fill(String(SUPPLIED.limit));
  await page.getByLabel("Payment term in days").fill(String(SUPPLIED.term));
  await approve(page).click();
  await page.getByRole("heading", { name: "You approved this" }).waitFor();
  const seen = await server.view(asked);
  assert.deepEqual(seen.content, SUPPLIED);
  assert.equal(seen.reason, "two lines\nof reason");
  assertClean(world.you.context);
  await page.close();
});

test("declining sends none of the fields, and the reason", async () => {
  const { server } = world;
  const asked = await server.ask(FORM);
  const page = await at(asked);
  await fillSupplier(page);
  await page.getByText("Add a reason, if you like").click();
  await page.getByLabel("Too broad").check();
  await decline(page).click();
  await page.getByRole("heading", { name: "You declined this" }).waitFor();
  const seen = await server.view(asked);
  assert.deepEqual([seen.status, seen.content ?? null, seen.reason], ["decline", null, "Too broad"]);
  await page.close();
});

test("dismissing is no answer", async () => {
  const { server } = world;
  const asked = await server.ask(FOLDER);
  const page = await at(asked);
  await dismiss(page).click();
  await page.getByRole("heading", { name: "You dismissed this" }).waitFor();
  assert.equal((await server.view(asked)).status, "cancel");
  await page.close();
});

test("Enter in a field approves nothing", async () => {
  const { server } = world;
  const asked = await server.ask(FORM);
  const page = await at(asked);
  await fillSupplier(page);
  const posted = page.waitForResponse((response) => response.request().method() === "POST");
  await page.getByLabel("Supplier name").press("Enter");
  assert.equal((await posted).status(), 200);
  await page.waitForLoadState();
  assert.equal((await server.view(asked)).status, "pending");
  assert.equal(await page.getByLabel("Supplier name").inputValue(), SUPPLIED.name);
  await page.close();
});

test("a sign-in that ended meanwhile loses nothing of what was typed", async () => {
  const { browser, server } = world;
  const asked = await server.ask(FORM);
  const { context, page } = await signedIn(browser, server);
  await page.goto(asked.path);
  await fillSupplier(page);
  await server.advance(31 * 60_000);
  await approve(page).click();
  await page.getByRole("heading", { name: "You are not signed in any more" }).waitFor();
  const opened = context.waitForEvent("page");
  await page.getByRole("link", { name: "Sign in, in another tab" }).click();
  const beside = await opened;
  await signInHere(beside, server, YOU);
  await beside.waitForURL(`**${asked.path}`);
  await page.getByRole("button", { name: "Send my answer again" }).click();
  await page.getByRole("heading", { name: "Nothing was decided" }).waitFor();
  assert.equal((await server.view(asked)).status, "pending");
  assert.equal(await page.getByLabel("Supplier name").inputValue(), SUPPLIED.name);
  await approve(page).click();
  await page.getByRole("heading", { name: "You approved this" }).waitFor();
  assert.deepEqual((await server.view(asked)).content, SUPPLIED);
  assertClean(context);
  await context.close();
  await world.you.context.close();
  world.you = await signedIn(browser, server);
});

test("hidden characters and look-alikes are shown as what they are", async () => {
  const { server } = world;
  const asked = await server.ask(DELETION);
  const page = await at(asked);
  const value = page.getByText("invoice_", { exact: false }).first();
  const shown = await value.textContent();
  assert.match(shown, /U\+202[EF]|202F/i);
  assert.match(shown, /200B/i);
  await page.close();
});

test("foreign text is text: no markup of it gets into the page", async () => {
  const { server } = world;
  const evil = `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script>`;
  const asked = await server.ask({ ...FOLDER, title: "A title", message: evil, details: [{ label: "</dt><h1>", value: evil, origin: "caller" }], warnings: [evil] });
  const page = await at(asked);
  assert.equal(await page.locator("main img, main script").count(), 0);
  assert.notEqual(await page.title(), "owned");
  assert.equal(await page.getByRole("heading", { level: 1 }).count(), 1);
  await page.close();
});

describe("with match codes", () => {
  const type = (page, code) => page.getByLabel(/^Match code/).fill(code);

  test("five wrong codes close approving, and declining stays open", async () => {
    const { server } = world;
    await server.needs("code");
    const asked = await server.ask(DELETION);
    const wrong = asked.match_code === "11" ? "12" : "11";
    const page = await at(asked);
    for (const left of ["4 tries", "3 tries", "2 tries", "1 try"]) {
      await type(page, wrong);
      await approve(page).click();
      await page.getByText(`That is not the code. Nothing was decided. ${left} left.`).waitFor();
    }
    await type(page, wrong);
    await approve(page).click();
    await page.getByRole("heading", { name: "Approving by code is closed" }).waitFor();
    assert.equal(await approve(page).count(), 0);
    assert.equal((await server.view(asked)).status, "pending");
    await decline(page).click();
    await page.getByRole("heading", { name: "You declined this" }).waitFor();
    assert.equal((await server.view(asked)).status, "decline");
    await page.close();
  });

  test("a wrong code is seen at once on a phone", async () => {
    const { server } = world;
    await server.needs("code");
    const asked = await server.ask(DELETION);
    const page = await at(asked);
    await page.setViewportSize(PHONE);
    await type(page, asked.match_code === "11" ? "12" : "11");
    await approve(page).click();
    const error = page.getByText("That is not the code.");
    await error.waitFor();
    const { y } = await error.boundingBox();
    assert.ok(y > 0 && y < PHONE.height, `the error stands at ${y} of ${PHONE.height} px`);
    await page.close();
  });

  test("the right code approves, and none at all does not", async () => {
    const { server } = world;
    await server.needs("code");
    const asked = await server.ask(DELETION);
    const page = await at(asked);
    assert.ok(!(await page.content()).includes(`>${asked.match_code}<`));
    await approve(page).click();
    await page.getByText("Type the code to approve. Nothing was decided.").waitFor();
    await type(page, asked.match_code);
    await approve(page).click();
    await page.getByRole("heading", { name: "You approved this" }).waitFor();
    const seen = await server.view(asked);
    assert.deepEqual([seen.status, seen.decided_by.method], ["accept", "code"]);
    await page.close();
  });

  test("Enter beside the code checks it and decides nothing", async () => {
    const { server } = world;
    await server.needs("code");
    const asked = await server.ask(DELETION);
    const page = await at(asked);
    await type(page, asked.match_code);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "The code is right" }).waitFor();
    assert.equal((await server.view(asked)).status, "pending");
    await page.close();
  });

  test("a code that is mailed instead approves this question", async () => {
    const { server } = world;
    await server.needs("code");
    const asked = await server.ask(DELETION);
    const page = await at(asked);
    const before = await codesSent(server, YOU);
    await page.getByRole("button", { name: "Mail me a code instead" }).click();
    await page.getByRole("heading", { name: "A code is on its way to you" }).waitFor();
    await type(page, await codeFor(server, YOU, before));
    await approve(page).click();
    await page.getByRole("heading", { name: "You approved this" }).waitFor();
    await page.close();
  });
});

describe("too late", () => {
  test("somebody else was faster", async () => {
    const { browser, server } = world;
    await server.needs("tap");
    await server.api("POST", "/v1/approvers", { name: "Mara Lindqvist", email: "mara@northwind.example" });
    const mara = await signedIn(browser, server, { mail: "mara@northwind.example" });
    const asked = await server.ask({ ...FOLDER, title: "Open the folder Board" });
    const page = await at(asked);
    await mara.page.goto(asked.path);
    await decline(mara.page).click();
    await mara.page.getByRole("heading", { name: "You declined this" }).waitFor();
    const posted = page.waitForResponse((response) => response.request().method() === "POST");
    await approve(page).click();
    assert.equal((await posted).status(), 409);
    await page.getByRole("heading", { name: "Mara Lindqvist declined this" }).waitFor();
    await page.getByText("Yours was not recorded and changed nothing.").waitFor();
    assert.equal((await server.view(asked)).status, "decline");
    await mara.context.close();
    await page.close();
  });

  test("the asker took it back", async () => {
    const { server } = world;
    const asked = await server.ask({ ...FOLDER, title: "Open the folder Audit" });
    const page = await at(asked);
    await server.api("POST", `/v1/elicitations/${asked.id}/withdraw`, {});
    await approve(page).click();
    await page.getByRole("heading", { name: "The question was withdrawn" }).waitFor();
    assert.equal((await server.view(asked)).status, "cancel");
    await page.close();
  });

  test("time ran out", async () => {
    const { server } = world;
    const asked = await server.ask({ ...FOLDER, title: "Open the folder Legal", expires_in_seconds: 60 });
    const page = await at(asked);
    await server.advance(61_000);
    await approve(page).click();
    await page.getByRole("heading", { name: "Time ran out" }).waitFor();
    await server.tick();
    assert.equal((await server.view(asked)).status, "expired");
    await page.close();
  });

  test("the last two seconds of the asker's own deadline take no answer", async () => {
    const { server } = world;
    const asked = await server.askFallback("closing-1", "Open the folder?", { seconds: 120 });
    const page = await at(asked);
    const standing = () => server.api("GET", `/v1/elicitations/${asked.reference}`);
    const { decide_by } = await standing();
    // The clock runs on: it is set when the answer is on its way.
    await page.route(`**${asked.path}`, async (route) => {
      await server.setClock(Date.parse(decide_by));
      await route.continue();
    });
    await approve(page).click();
    await page.getByRole("heading", { name: "Your answer came too late" }).waitFor();
    await page.getByText("Nothing was recorded.").waitFor();
    await server.advance(3_000);
    await server.tick();
    assert.equal((await standing()).status, "expired");
    await page.close();
  });
});
