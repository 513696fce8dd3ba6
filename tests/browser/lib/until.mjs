import { setTimeout as pause } from "node:timers/promises";

const STEP_MS = 25;

/** Waits until `look` answers something, and answers that. */
export async function until(what, look, limit = 30_000) {
  const end = performance.now() + limit;
  for (;;) {
    const seen = await look();
    if (seen) return seen;
    if (performance.now() > end) throw new Error(`not within ${limit} ms: ${what}`);
    await pause(STEP_MS);
  }
}
