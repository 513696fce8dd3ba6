import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";

import { device, signedIn } from "./lib/browser.mjs";
import { DELETION, FOLDER, FORM } from "./lib/questions.mjs";
import { cookiesOf, send } from "./lib/raw.mjs";
import { rummage } from "./lib/robot.mjs";
import { scene } from "./lib/scene.mjs";
import { until } from "./lib/until.mjs";

const world = scene();

/** Three questions, and the links that their mails carry. */
async function mailed() {
  const { server } = world;
  const asked = [];
  for (const question of [DELETION, FOLDER, FORM]) asked.push(await server.ask(question));
  const references = asked.map((one) => one.reference);
  const links = (await server.outbox()).filter((message) => references.includes(message.reference)).map((message) => message.link);
  assert.equal(links.length, asked.length);
  return { asked, links };
}

async function statuses(asked) {
  return (await Promise.all(asked.map((one) => world.server.view(one)))).map((seen) => seen.status);
}

const PENDING = ["pending", "pending", "pending"];

test("a robot that runs scripts, follows every link and submits every form decides nothing", async () => {
  const { browser, server } = world;
  const { asked, links } = await mailed();
  const robot = await device(browser, server);
  let presses = 0;
  for (const link of links) presses += (await rummage(robot, link)).presses;
  assert.ok(presses >= links.length, `it pressed ${presses} buttons`);
  assert.deepEqual(await statuses(asked), PENDING);
  await robot.close();
});

test("the same robot decides as soon as it is given a session", async () => {
  const { browser, server, you } = world;
  const { asked, links } = await mailed();
  const robot = await device(browser, server, { storageState: await you.context.storageState() });
  await rummage(robot, links[1]);
  assert.notDeepEqual(await statuses(asked), PENDING);
  await robot.close();
  // It has signed out whom it was.
  await you.context.close();
  world.you = await signedIn(browser, server);
});

const AGENTS = {
  curl: "curl/8.5.0",
  preview: "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)",
  scanner: "Mozilla/4.0 (compatible; MSIE 7.0; Windows NT 6.0) SafeLinks",
  none: "",
};
const FETCHES = [
  ["HEAD", {}],
  ["GET", {}],
  ["GET", { "sec-purpose": "prefetch" }],
  ["GET", { "sec-purpose": "prefetch;prerender", purpose: "prefetch", "x-moz": "prefetch" }],
  ["GET", { accept: "application/json" }],
  ["GET", { range: "bytes=0-0" }],
  ["OPTIONS", { origin: "http://evil.example", "access-control-request-method": "POST" }],
  ["PUT", {}],
  ["DELETE", {}],
];

test("no scanner's fetch decides, with a session or without one", async () => {
  const { server, you } = world;
  const { asked, links } = await mailed();
  const paths = [...links.map((link) => new URL(link).pathname), ...links.map((link) => `${new URL(link).pathname}?action=accept`)];
  for (const cookie of ["", await cookiesOf(you.context)]) {
    for (const path of paths) {
      for (const agent of Object.values(AGENTS)) {
        for (const [method, headers] of FETCHES) {
          const answer = await send(server, method, path, { headers: { ...headers, cookie, "user-agent": agent } });
          assert.ok(answer.status < 500, `${method} ${path}: ${answer.status}`);
          assert.equal(answer.headers["access-control-allow-origin"], undefined);
        }
      }
    }
  }
  assert.deepEqual(await statuses(asked), PENDING);
});

test("no POST decides that did not come from a form of ours", async () => {
  const { server, you } = world;
  const { asked } = await mailed();
  const cookie = await cookiesOf(you.context);
  const bodies = [undefined, {}, { action: "accept" }, { action: "accept", csrf: "" }, { action: "accept", csrf: "x".repeat(64) }];
  const origins = [{}, { origin: "null" }, { origin: "http://evil.example" }, { origin: server.pages }];
  for (const one of asked) {
    for (const form of bodies) {
      for (const headers of origins) {
        for (const who of [{}, { cookie }]) {
          const answer = await send(server, "POST", one.path, { headers: { ...headers, ...who }, form });
          assert.ok([401, 403].includes(answer.status), `${JSON.stringify([headers, form])}: ${answer.status}`);
        }
      }
    }
  }
  assert.deepEqual(await statuses(asked), PENDING);
});

test("Origin and Sec-Fetch-Site: the whole table", async () => {
  const { server, you } = world;
  const cookie = await cookiesOf(you.context);
  const port = new URL(server.base).port;
  const origins = {
    [server.pages]: "ours",
    [server.base]: "ours",
    "": "none",
    null: "foreign",
    "http://evil.example": "foreign",
    [`http://localhost:${Number(port) ^ 1}`]: "foreign",
    "http://localhost": "foreign",
    [`https://localhost:${port}`]: "foreign",
    [`${server.pages}.evil.example`]: "foreign",
    [`${server.pages}/`]: "foreign",
    [`${server.pages}, ${server.pages}`]: "foreign",
  };
  const sites = ["same-origin", "same-site", "cross-site", "none", ""];
  for (const [origin, kind] of Object.entries(origins)) {
    for (const site of sites) {
      const asked = await server.ask({ ...FOLDER, title: `From ${origin}, ${site}` });
      const { csrf } = JSON.parse((await send(server, "GET", asked.path, { headers: { cookie, accept: "application/json" } })).text);
      const headers = { cookie, ...(origin && { origin }), ...(site && { "sec-fetch-site": site }) };
      const { status } = await send(server, "POST", asked.path, { headers, form: { csrf, action: "accept" } });
      const isOurs = kind === "ours" || (kind === "none" && site === "same-origin");
      const seen = await server.view(asked);
      assert.deepEqual([status, seen.status], isOurs ? [303, "accept"] : [403, "pending"], `Origin ${origin || "absent"}, Sec-Fetch-Site ${site || "absent"}`);
      if (!isOurs) await server.api("POST", `/v1/elicitations/${asked.id}/withdraw`, {});
    }
  }
});

test("a page of another origin can neither submit our form nor frame our page", async () => {
  const { browser, server, you } = world;
  const asked = await server.ask(FOLDER);
  const cookie = await cookiesOf(you.context);
  const { csrf } = JSON.parse((await send(server, "GET", asked.path, { headers: { cookie, accept: "application/json" } })).text);
  const target = server.pages + asked.path;
  const html = `<!doctype html><iframe src="${target}"></iframe><form method="post" action="${target}"><input name="csrf" value="${csrf}"><input name="action" value="accept"><button>Win</button></form>`;
  const evil = createServer((_, answer) => answer.setHeader("content-type", "text/html").end(html)).listen(0, "127.0.0.1");
  await until("the other page is served", () => evil.listening);
  const context = await device(browser, server, { storageState: await you.context.storageState() });
  try {
    // Another port of the same name is the same site: SameSite cookies go along, and the Origin has to tell.
    for (const host of ["localhost", "127.0.0.1"]) {
      const page = await context.newPage();
      await page.goto(`http://${host}:${evil.address().port}/`);
      const framed = await page.locator("iframe").contentFrame().locator("main").count();
      assert.equal(framed, 0, "our page shows in a frame");
      const posted = page.waitForResponse((response) => response.request().method() === "POST");
      await page.getByRole("button", { name: "Win" }).click();
      assert.ok([401, 403].includes((await posted).status()));
      assert.equal((await server.view(asked)).status, "pending");
      await page.close();
    }
  } finally {
    await context.close();
    evil.close();
    evil.closeAllConnections();
  }
});
