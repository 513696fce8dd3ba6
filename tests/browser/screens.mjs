// Takes the pictures in docs/screens/ again: node tests/browser/screens.mjs [states…]
// Needs pngquant beside Chromium. The clock stands still and references are made up, so that a picture changes
// only when its page does.
import { execFileSync } from "node:child_process";
import { mkdirSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { DESK, launch, PHONE } from "./lib/browser.mjs";
import { Server } from "./lib/server.mjs";
import { Stage, STATES } from "./lib/states.mjs";

const OUT = new URL("../../docs/screens/", import.meta.url);
const STEP_MS = 10 * 60_000;
const LIGHT = [
  "signin-address", "signin-code", "signin-code-wrong", "decision-confirm", "decision-form", "decision-form-wrong",
  "decision-code-wrong", "decision-code-locked", "settled-approved", "settled-form", "settled-picked-up", "late-somebody-else", "late-withdrawn",
  "late-expired", "inbox", "inbox-settled-in-place", "inbox-empty", "batch", "batch-done", "devices", "devices-passkey", "decision-passkey", "error-not-found",
  "error-not-saved", "error-inbox-unread",
];
const DARK = ["decision-confirm", "decision-form-wrong", "settled-approved", "inbox"];

/** Makes what the page shows of times and references the same each time. Runs in the page. */
function steady(offset) {
  const known = ["7QK-4ND", "K3M-9TR", "P8W-2ZC", "D5H-6XB", "R2V-8FJ", "N9G-3YS", "T4B-7KW", "C6X-1MP"];
  const names = new Map();
  const name = (found) => {
    if (!names.has(found)) names.set(found, known[names.size % known.length]);
    return names.get(found);
  };
  const time = (found, h, m, s) => {
    const at = (((Number(h) * 60 + Number(m)) * 60 + Number(s)) * 1000 - offset + 86_400_000) % 86_400_000;
    const two = (n) => String(Math.floor(n)).padStart(2, "0");
    return `${two(at / 3_600_000)}:${two((at / 60_000) % 60)}:00`;
  };
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const text = walk.currentNode;
    text.data = text.data
      .replace(/\b[0-9A-HJKMNP-TV-Z]{3}-[0-9A-HJKMNP-TV-Z]{3}\b/g, name)
      .replace(/\b(\d\d):(\d\d):(\d\d)\b/g, time)
      .replace(/\b(\d+):\d\d left/g, "$1:40 left")
      .replace(/\b\d+ (ms|s) (ago|later|before)/g, "3 s $2");
  }
  const { body } = document;
  if (document.activeElement !== body && document.activeElement?.matches("input")) document.activeElement.blur();
}

const wanted = process.argv.slice(2);
const [server, browser] = await Promise.all([Server.start(), launch()]);
try {
  mkdirSync(OUT, { recursive: true });
  const stage = await Stage.make(server, browser);
  const start = Date.parse((await server.advance(0)).now);
  for (const state of LIGHT) {
    if (wanted.length && !wanted.includes(state)) continue;
    await stage.clear();
    const steps = Math.ceil((Date.parse((await server.advance(0)).now) - start) / STEP_MS);
    await server.setClock(start + steps * STEP_MS);
    const page = await STATES[state](stage);
    const { now } = await server.advance(0);
    await page.evaluate(steady, Math.floor((Date.parse(now) - start) / STEP_MS) * STEP_MS);
    for (const viewport of [PHONE, DESK]) {
      for (const colorScheme of DARK.includes(state) ? ["light", "dark"] : ["light"]) {
        await page.setViewportSize(viewport);
        await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
        const file = fileURLToPath(new URL(`${state}-${viewport.width}${colorScheme === "dark" ? "-dark" : ""}.png`, OUT));
        await page.screenshot({ path: file, fullPage: true, animations: "disabled", caret: "hide" });
        execFileSync("pngquant", ["--force", "--skip-if-larger", "--speed", "1", "--strip", "--nofs", "--output", file, "32", file]);
        console.log(`${Math.round(statSync(file).size / 1024)} KiB ${file.split("/").at(-1)}`);
      }
    }
  }
} finally {
  await browser.close();
  await server.stop();
}
