// Each state, light and dark, narrow and wide: no finding of axe, and the structure that was looked at by a person.
// UPDATE_SNAPSHOTS=1 writes what is seen into snapshots/; look at the difference before it is committed.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";

import { DESK, launch, PHONE } from "./lib/browser.mjs";
import { Server } from "./lib/server.mjs";
import { Stage, STATES } from "./lib/states.mjs";
import { structure } from "./lib/structure.mjs";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const FOLDER = new URL("snapshots/", import.meta.url);
const IS_UPDATE = process.env.UPDATE_SNAPSHOTS === "1";
const only = process.env.STATES?.split(",");

let server, browser, stage;
before(async () => {
  [server, browser] = await Promise.all([Server.start(), launch()]);
  stage = await Stage.make(server, browser);
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

/** What axe finds on the page as it is now: rule, element and reason. */
async function findings(page) {
  await page.evaluate(AXE);
  const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  return found.violations.flatMap((rule) => rule.nodes.map((node) => `${rule.id}: ${node.target.join(" ")}: ${node.failureSummary.replace(/\s+/g, " ")}`));
}

/** What of the page is wider than the window. */
function overflow(page) {
  return page.evaluate(() => {
    const width = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth <= width) return [];
    return [...document.querySelectorAll("body *")].filter((one) => one.getBoundingClientRect().right > width + 1).slice(0, 3).map((one) => `${one.tagName}.${one.className}`);
  });
}

for (const [name, reach] of Object.entries(STATES)) {
  if (only && !only.includes(name)) continue;
  test(name, async () => {
    await stage.clear();
    const page = await reach(stage);
    const shown = await structure(page);
    const file = new URL(`${name}.yaml`, FOLDER);
    if (IS_UPDATE) {
      mkdirSync(FOLDER, { recursive: true });
      writeFileSync(file, shown);
    }
    const wrong = [];
    for (const viewport of [PHONE, DESK]) {
      for (const colorScheme of ["light", "dark"]) {
        await page.setViewportSize(viewport);
        await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
        const at = `${viewport.width} ${colorScheme}`;
        wrong.push(...(await findings(page)).map((one) => `${at}: ${one}`), ...(await overflow(page)).map((one) => `${at}: wider than the window: ${one}`));
      }
    }
    assert.deepEqual(wrong, []);
    assert.deepEqual(page.context().strays, []);
    assert.equal(shown, existsSync(file) ? readFileSync(file, "utf8") : "", `the structure of ${name} has changed; see UPDATE_SNAPSHOTS above`);
  });
}

test("there is a snapshot of each state and no other", () => {
  const files = readdirSync(FOLDER).map((file) => file.replace(/\.yaml$/, ""));
  assert.deepEqual(files.sort(), Object.keys(STATES).sort());
});
