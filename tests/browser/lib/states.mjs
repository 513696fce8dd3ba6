// Every state of the pages that a person can meet, by name: how it is reached, from an empty inbox on.
import { approve, codeFor, codesSent, decline, device, signedIn, signInHere, YOU } from "./browser.mjs";
import { enrol } from "./passkey.mjs";
import { DELETION, fillSupplier, FOLDER, FORM } from "./questions.mjs";

export const MARA = "mara@northwind.example";
const FOREVER = 100_000;
const MINUTE = 60_000;

/** A stage that states are set up on: a server, a browser, and `you` and Mara signed in. */
export class Stage {
  static async make(server, browser) {
    // A Monday morning, so that no picture depends on the day it was taken.
    await server.setClock(Date.parse("2027-01-11T09:30:00Z"));
    await server.api("POST", "/v1/approvers", { name: "Mara Lindqvist", email: MARA });
    const stage = new Stage();
    Object.assign(stage, { server, browser, contexts: [] });
    stage.you = await signedIn(browser, server);
    stage.mara = await signedIn(browser, server, { mail: MARA });
    return stage;
  }

  /** Withdraws what is open, and makes the store whole and the policy lenient again. */
  async clear() {
    const { server } = this;
    await server.fault("any", "error", 0);
    await server.needs("tap");
    const open = await server.api("GET", "/v1/elicitations?status=pending");
    for (const one of open.elicitations) await server.api("POST", `/v1/elicitations/${one.id}/withdraw`, {});
    await server.forgetPasskeys();
    await server.tick();
    for (const context of this.contexts.splice(0)) await context.close();
    // The clock leaps from state to state, and who does nothing for half an hour is signed out.
    for (const one of [this.you, this.mara]) await one.page.goto("/inbox");
  }

  /** A page of a device of `you`, which is closed at the next `clear`. */
  async page(path, options = {}) {
    const storageState = await this.you.context.storageState();
    return this.pageOf({ storageState, ...options }, path);
  }

  /** A page of a device that nobody is signed in on. */
  stranger(path) {
    return this.pageOf({}, path);
  }

  async pageOf(options, path) {
    const context = await device(this.browser, this.server, options);
    this.contexts.push(context);
    const page = await context.newPage();
    if (path) await page.goto(path);
    return page;
  }

  async ask(question) {
    return this.server.ask(question);
  }
}

const heading = (page, name) => page.getByRole("heading", { name }).waitFor();

/** The inbox of the reference: six open questions of four tools. */
async function six({ server }) {
  const ask = (question, seconds) => server.ask({ ...question, expires_in_seconds: seconds });
  return [
    await ask({ ...FOLDER, title: "Open the folder Board" }, 170),
    await ask(FOLDER, 540),
    await ask(DELETION, 1380),
    await ask({ server: "newsletter", tool: "send_campaign", tier: "external", title: "Send the November newsletter", message: "To 4,812 people." }, 2400),
    await ask(FORM, 3540),
    await ask({ server: "team-drive", tool: "open_folder", tier: "read", title: undefined, message: "May I open the folder with last year’s tax returns to compare the totals?" }, 90_000),
  ];
}

async function codePage(stage) {
  // A source is given five codes in ten minutes.
  await stage.server.advance(11 * MINUTE);
  const page = await stage.stranger("/signin/demo");
  const before = await codesSent(stage.server, YOU);
  await page.getByLabel("Your work e-mail").fill(YOU);
  await page.getByRole("button", { name: "Mail me a code", exact: true }).click();
  await page.getByLabel("6-digit code").waitFor();
  return { page, code: await codeFor(stage.server, YOU, before) };
}

async function wrongCodes({ page, code }, times) {
  for (let at = 0; at < times; at += 1) {
    await page.getByLabel("6-digit code").fill(code === "111111" ? "222222" : "111111");
    const done = page.waitForResponse((response) => response.request().method() === "POST");
    await page.getByRole("button", { name: "Sign in" }).click();
    await done;
    await page.waitForLoadState();
  }
  return page;
}

/** A remembered device of `you` that has come back without a code. */
async function remembered(stage, path) {
  await stage.server.advance(11 * MINUTE);
  const page = await stage.stranger("/signin/demo");
  await signInHere(page, stage.server, YOU, { remember: true });
  await page.waitForURL("**/inbox");
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.waitForURL("**/signin/demo");
  if (!path) return page;
  await page.goto(path);
  await page.getByRole("button", { name: "Continue on this remembered device" }).click();
  await page.waitForURL(`**${path}`);
  return page;
}

/** A page of `you` at a question that takes a passkey, with one to use. */
async function withPasskey(stage) {
  await stage.server.needs("passkey");
  const asked = await stage.ask(DELETION);
  const page = await stage.page();
  const keys = await enrol(page);
  await page.goto(asked.path);
  return { page, keys };
}

async function guarded(stage, wrong) {
  await stage.server.needs("code");
  const asked = await stage.ask(DELETION);
  const page = await stage.page(asked.path);
  for (let at = 0; at < wrong; at += 1) {
    await page.getByLabel("Match code").fill(asked.match_code === "11" ? "12" : "11");
    await approve(page).click();
    await page.getByText(/is not the code|Approving by code is closed/).first().waitFor();
    if (at + 1 < wrong) await page.getByText(`${4 - at} ${at === 3 ? "try" : "tries"} left.`).waitFor();
  }
  return page;
}

async function settled(stage, question, press, title) {
  const asked = await stage.ask(question);
  const page = await stage.page(asked.path);
  await press(page).click();
  await heading(page, title);
  return { asked, page };
}

/** The page that an answer meets which comes after `before`. */
async function late(stage, before) {
  const asked = await stage.ask({ ...DELETION, expires_in_seconds: 300 });
  const page = await stage.page(asked.path);
  await before(asked);
  await approve(page).click();
  await page.locator("main.settled").waitFor();
  return page;
}

async function unsaved(stage, op) {
  const asked = await stage.ask(FORM);
  const page = await stage.page(asked.path);
  await fillSupplier(page);
  await stage.server.fault(op, "error", FOREVER);
  await approve(page).click({ noWaitAfter: true });
  await page.getByRole("heading", { name: "Your answer was not saved" }).waitFor({ timeout: 60_000 });
  await stage.server.fault(op, "error", 0);
  return page;
}

export const STATES = {
  "signin-workspace": (stage) => stage.stranger("/signin"),
  "signin-address": (stage) => stage.stranger("/signin/demo"),
  "signin-for-a-question": async (stage) => stage.stranger((await stage.ask(DELETION)).path),
  "signin-code": async (stage) => (await codePage(stage)).page,
  "signin-code-wrong": async (stage) => wrongCodes(await codePage(stage), 1),
  "signin-code-over": async (stage) => wrongCodes(await codePage(stage), 5),
  "signin-remembered": (stage) => remembered(stage),
  "decision-confirm": async (stage) => stage.page((await stage.ask(DELETION)).path),
  "decision-one-tap": async (stage) => stage.page((await stage.ask(FOLDER)).path),
  "decision-form": async (stage) => stage.page((await stage.ask(FORM)).path),
  "decision-form-wrong": async (stage) => {
    const page = await stage.page((await stage.ask(FORM)).path);
    await page.getByLabel("Accounts contact").fill("nobody");
    await page.getByLabel("Payment term in days").fill("91");
    await approve(page).click();
    await heading(page, /^Nothing was sent/);
    return page;
  },
  "decision-code": (stage) => guarded(stage, 0),
  "decision-code-wrong": (stage) => guarded(stage, 1),
  "decision-code-locked": (stage) => guarded(stage, 5),
  "decision-code-mailed": async (stage) => {
    const page = await guarded(stage, 0);
    await page.getByRole("button", { name: "Mail me a code instead" }).click();
    await heading(page, "A code is on its way to you");
    return page;
  },
  "decision-reason": async (stage) => {
    const page = await stage.page((await stage.ask(FOLDER)).path);
    await page.getByText("Add a reason, if you like").click();
    return page;
  },
  "decision-remembered-device": async (stage) => remembered(stage, (await stage.ask(DELETION)).path),
  "decision-silent-agent": async (stage) => {
    const asked = await stage.server.askFallback(`silent-${Date.now()}`, "Open the folder Payroll?");
    await stage.server.advance(5 * MINUTE);
    return stage.page(asked.path);
  },
  "decision-last-minute": async (stage) => {
    const asked = await stage.ask({ ...DELETION, expires_in_seconds: 100 });
    await stage.server.advance(50_000);
    return stage.page(asked.path);
  },
  "decision-settled-elsewhere": async (stage) => {
    const asked = await stage.ask(FOLDER);
    const page = await stage.page(asked.path);
    await stage.mara.page.goto(asked.path);
    await decline(stage.mara.page).click();
    await page.getByText("Nothing that is typed here can be sent any more.").waitFor();
    return page;
  },
  "decision-passkey": async (stage) => (await withPasskey(stage)).page,
  "decision-passkey-none": async (stage) => {
    await stage.server.needs("passkey");
    return stage.page((await stage.ask(DELETION)).path);
  },
  "decision-passkey-stopped": async (stage) => {
    const { page, keys } = await withPasskey(stage);
    await keys.fail();
    await approve(page).click();
    await heading(page, "No passkey was used");
    return page;
  },
  "settled-approved": async (stage) => (await settled(stage, DELETION, approve, "You approved this")).page,
  "settled-form": async (stage) => {
    const page = await stage.page((await stage.ask(FORM)).path);
    await fillSupplier(page);
    await approve(page).click();
    await heading(page, "You approved this");
    return page;
  },
  "settled-picked-up": async (stage) => {
    const { asked, page } = await settled(stage, DELETION, approve, "You approved this");
    await stage.server.api("POST", `/v1/elicitations/${asked.id}/ack`, {});
    await page.reload();
    await page.getByText(/^The agent picked this up/).waitFor();
    return page;
  },
  "settled-declined": async (stage) => {
    const page = await stage.page((await stage.ask(DELETION)).path);
    await page.getByText("Add a reason, if you like").click();
    await page.getByLabel("Wrong target").check();
    await page.getByLabel("In your words").fill("Message 48377 is not ours.");
    await decline(page).click();
    await heading(page, "You declined this");
    return page;
  },
  "late-somebody-else": (stage) => late(stage, async (asked) => {
    await stage.mara.page.goto(asked.path);
    await approve(stage.mara.page).click();
    await heading(stage.mara.page, "You approved this");
  }),
  "late-withdrawn": (stage) => late(stage, (asked) => stage.server.api("POST", `/v1/elicitations/${asked.id}/withdraw`, {})),
  "late-expired": (stage) => late(stage, async () => {
    await stage.server.advance(301_000);
    await stage.server.tick();
  }),
  "late-closing": async (stage) => {
    const asked = await stage.server.askFallback(`closing-${Date.now()}`, "Open the folder Payroll?", { seconds: 120 });
    const { decide_by } = await stage.server.api("GET", `/v1/elicitations/${asked.reference}`);
    const page = await stage.page(asked.path);
    await page.route(`**${asked.path}`, async (route) => {
      if (route.request().method() === "POST") await stage.server.setClock(Date.parse(decide_by));
      await route.continue();
    });
    await approve(page).click();
    await heading(page, "Your answer came too late");
    return page;
  },
  inbox: async (stage) => {
    await six(stage);
    return stage.page("/inbox");
  },
  "inbox-selected": async (stage) => {
    await six(stage);
    const page = await stage.page("/inbox");
    await page.getByRole("checkbox").first().check();
    return page;
  },
  "inbox-settled-in-place": async (stage) => {
    const [first] = await six(stage);
    const page = await stage.page("/inbox");
    await stage.mara.page.goto(first.path);
    await approve(stage.mara.page).click();
    await stage.ask({ ...FOLDER, title: "Open the folder Legal", expires_in_seconds: 600 });
    await page.getByText("Approved by Mara Lindqvist").waitFor();
    await page.getByText("1 new question").waitFor();
    return page;
  },
  "inbox-cannot-be-undone": async (stage) => {
    await six(stage);
    return stage.page("/inbox?view=final");
  },
  "inbox-empty": (stage) => stage.page("/inbox"),
  "inbox-my-answers": (stage) => stage.page("/inbox?view=mine"),
  batch: async (stage) => {
    const [first, second] = await six(stage);
    return stage.page(`/inbox/batch?q=${first.reference}&q=${second.reference}`);
  },
  "batch-done": async (stage) => {
    const [first, second] = await six(stage);
    const page = await stage.page(`/inbox/batch?q=${first.reference}&q=${second.reference}`);
    await page.getByLabel("Approve").first().check();
    await page.getByRole("button", { name: "Send the answers I chose" }).click();
    await heading(page, "What came of your answers");
    return page;
  },
  "batch-none": async (stage) => {
    const asked = await stage.ask(FORM);
    return stage.page(`/inbox/batch?q=${asked.reference}`);
  },
  devices: async (stage) => stage.page("/me"),
  "devices-passkey": async (stage) => {
    const page = await stage.page();
    await enrol(page);
    return page;
  },
  "error-not-found": (stage) => stage.page("/d/demo/AAA-AAA"),
  "error-not-saved": (stage) => unsaved(stage, "transact"),
  "error-send-again": (stage) => unsaved(stage, "any"),
  "error-inbox-unread": async (stage) => {
    await stage.server.fault("query", "error", FOREVER);
    const page = await stage.page("/inbox");
    await stage.server.fault("query", "error", 0);
    return page;
  },
  "error-signed-out": async (stage) => {
    const page = await stage.page((await stage.ask(FOLDER)).path);
    await page.context().clearCookies();
    await approve(page).click();
    await heading(page, "You are not signed in any more");
    return page;
  },
  "error-foreign-form": async (stage) => {
    const asked = await stage.ask(FOLDER);
    const page = await stage.page(asked.path);
    // Any page could have sent this form; a browser does not let a test change the Origin, so it is sent for it.
    await page.route(`**${asked.path}`, async (route) => {
      const headers = { ...(await route.request().allHeaders()), origin: "http://evil.example" };
      await route.fulfill({ response: await route.fetch({ headers }) });
    });
    await approve(page).click();
    await heading(page, "Not from one of our pages");
    return page;
  },
  "error-old-form": async (stage) => {
    const page = await stage.page((await stage.ask(FOLDER)).path);
    await page.locator("input[name=csrf]").evaluate((field) => (field.value = "x"));
    await approve(page).click();
    await heading(page, "Nothing was decided");
    return page;
  },
};
