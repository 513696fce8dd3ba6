// What a screen reader makes of a page, without what differs from run to run.

const MASKS = [
  [/http:\/\/localhost:\d+/g, ""],
  [/\b[0-9A-HJKMNP-TV-Z]{3}-[0-9A-HJKMNP-TV-Z]{3}\b/g, "REFERENCE"],
  [/\b\d\d:\d\d:\d\d\b/g, "TIME"],
  [/\b\d\d:\d\d UTC/g, "TIME UTC"],
  [/\b\d+:\d\d left\b/g, "TIME left"],
  [/\b\d+ (ms|s|min|h|days?)( \d+ (s|min|h))?\b/g, "SPAN"],
  [/\b(\d+) (tries|try) left/g, "$1 $2 left"],
];

export async function structure(page) {
  const text = await page.locator("body").ariaSnapshot();
  return `${MASKS.reduce((seen, [pattern, mask]) => seen.replace(pattern, mask), text)}\n`;
}
