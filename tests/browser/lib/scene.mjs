// What each spec file starts with: a server and a browser of its own, and the device of the person `you`.
import { after, before } from "node:test";

import { launch, signedIn } from "./browser.mjs";
import { Server } from "./server.mjs";

/** Starts all that before the specs of a file and ends it after them; `you` is signed in unless told otherwise. */
export function scene({ signIn = true } = {}) {
  const scene = {};
  before(async () => {
    [scene.server, scene.browser] = await Promise.all([Server.start(), launch()]);
    if (signIn) scene.you = await signedIn(scene.browser, scene.server);
  });
  after(async () => {
    await scene.browser?.close();
    await scene.server?.stop();
  });
  return scene;
}
