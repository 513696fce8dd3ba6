// A link scanner at its worst: it runs scripts, follows every link, presses every key and submits every form.
const PAGES_MAX = 40;
const KEYS = ["j", "a", "d", "x", "Enter", "Space"];

/** Fills in what the form of a button wants, so that nothing in the browser stops it. */
const fill = (button) => {
  button.form.noValidate = true;
  for (const field of button.form.elements) {
    if (field.type === "checkbox" || field.type === "radio") field.checked = true;
    else if (field.type === "email") field.value = "robot@scanner.example";
    else if (field.type !== "hidden" && "value" in field && !field.value) field.value = "1";
  }
};

/** Looks through everything that can be reached from `start`; answers the addresses and how often it pressed. */
export async function rummage(context, start) {
  const page = await context.newPage();
  const [seen, queue] = [new Set(), [start]];
  const found = { pages: seen, presses: 0 };
  const origin = new URL(start).origin;
  const note = async () => {
    const links = await page.locator("a[href]").evaluateAll((all) => all.map((one) => one.href.split("#")[0]));
    queue.push(page.url(), ...links.filter((link) => link.startsWith(origin)));
  };
  while (queue.length && seen.size < PAGES_MAX) {
    const url = queue.shift();
    if (seen.has(url)) continue;
    seen.add(url);
    await page.goto(url);
    await note();
    const buttons = await page.locator("form button").count();
    for (let at = 0; at < buttons; at += 1) {
      await page.goto(url);
      const button = page.locator("form button").nth(at);
      if (!(await button.count())) break;
      await button.evaluate(fill);
      const gone = page.waitForEvent("framenavigated");
      await button.evaluate((one) => one.click());
      await gone;
      await page.waitForLoadState();
      found.presses += 1;
      await note();
    }
    await page.goto(url);
    for (const key of KEYS) await page.keyboard.press(key);
    await page.waitForLoadState();
  }
  await page.close();
  return found;
}
