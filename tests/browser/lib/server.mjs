// A server of its own for each spec file, in memory, on a free port, with the developer's hooks.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { until } from "./until.mjs";

const BINARY = resolve(process.env.COUNTERSIGN_BINARY ?? fileURLToPath(new URL("../../../target/release/countersign", import.meta.url)));
const READY_MS = 30_000;

export class Server {
  /** Starts one. `env` is all that it gets of an environment, beside a way to find its libraries. */
  static async start(env = {}) {
    const folder = await mkdtemp(join(tmpdir(), "countersign-browser-"));
    const ready = join(folder, "ready.json");
    const args = ["serve", "--dev-hooks", "--port", "0", "--memory", "--ready-file", ready];
    const child = spawn(BINARY, args, { cwd: folder, env: { PATH: process.env.PATH, ...env }, stdio: ["ignore", "pipe", "pipe"] });
    const server = new Server(child, folder);
    child.on("error", (error) => (server.log += error));
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (server.log += text));
    try {
      server.ready = await until("the server is ready", async () => {
        assert.equal(child.exitCode, null, `the server ended: ${server.log}`);
        return JSON.parse(await readFile(ready, "utf8").catch(() => "null"));
      }, READY_MS);
    } catch (error) {
      await server.stop();
      throw error;
    }
    return server;
  }

  constructor(child, folder) {
    this.child = child;
    this.folder = folder;
    this.log = "";
  }

  /** Where askers and hooks reach it. */
  get base() {
    return this.ready.base_url;
  }

  /** Where people reach it: cookies go by name, and so do links. */
  get pages() {
    return this.base.replace("127.0.0.1", "localhost");
  }

  async stop() {
    if (this.child.exitCode === null && this.child.signalCode === null) {
      const ended = once(this.child, "exit");
      this.child.kill("SIGTERM");
      await ended;
    }
    await rm(this.folder, { recursive: true, force: true });
  }

  /** A call of the native API, with the key of the local tenant; anything but a 2xx fails. */
  async api(method, path, body) {
    const headers = { authorization: `Bearer ${this.ready.api_key}`, "content-type": "application/json" };
    const answer = await fetch(this.base + path, { method, headers, body: body && JSON.stringify(body) });
    const text = await answer.text();
    assert.ok(answer.ok, `${method} ${path}: ${answer.status} ${text}`);
    return text && JSON.parse(text);
  }

  async hook(path, body) {
    const headers = { "content-type": "application/json" };
    const answer = await fetch(this.base + path, { method: "POST", headers, body: JSON.stringify(body) });
    const text = await answer.text();
    assert.ok(answer.ok, `${path}: ${answer.status} ${text}`);
    return text && JSON.parse(text);
  }

  /** Does what is due now: tells people, ends what has run out. */
  async tick() {
    const done = await this.hook("/dev/tick", {});
    assert.equal(done.error, null);
    return done;
  }

  advance(ms) {
    return this.hook("/dev/clock", { advance_ms: ms });
  }

  /** Sets the clock to an instant, in ms since 1970; it runs on from there. */
  async setClock(ms) {
    const { now } = await this.advance(0);
    return this.advance(ms - Date.parse(now));
  }

  /** The next `times` calls of the store fail so; 0 ends it. */
  fault(op, kind, times) {
    return this.hook("/dev/faults", { op, kind, times });
  }

  async outbox() {
    return (await (await fetch(`${this.base}/dev/outbox`)).json()).messages;
  }

  /** Asks over the native API and tells people: the question as created, with the `path` of its page. */
  async ask(question) {
    const created = await this.api("POST", "/v1/elicitations", { server: "support-mail", tool: "delete_messages", message: "Is that all right?", ...question });
    await this.tick();
    return { ...created, path: `/d/${this.ready.tenant}/${created.reference}` };
  }

  /** Removes everybody's passkeys, as a manager may. */
  async forgetPasskeys() {
    const { approvers } = await this.api("GET", "/v1/approvers");
    for (const one of approvers) await this.api("DELETE", `/v1/approvers/${one.id}/passkeys`);
  }

  view(created) {
    return this.api("GET", `/v1/elicitations/${created.id}`);
  }

  /** Asks as the tool servers do that speak the fallback shape. */
  async askFallback(id, message, { requestedSchema, seconds = 3600 } = {}) {
    const { now } = await this.advance(0);
    const _meta = {
      "com.pulsemcp/request-id": id,
      "com.pulsemcp/tool-name": "add_supplier",
      "com.pulsemcp/expires-at": new Date(Date.parse(now) + seconds * 1000).toISOString(),
    };
    const body = { message, requestedSchema, _meta };
    const headers = { "content-type": "application/json" };
    const answer = await fetch(this.ready.env.ELICITATION_REQUEST_URL, { method: "POST", headers, body: JSON.stringify(body) });
    assert.ok(answer.ok, await answer.clone().text());
    await this.tick();
    const found = await this.poll(id);
    const reference = found._meta["com.countersign/reference"] ?? JSON.stringify(found).match(/[0-9A-Z]{3}-[0-9A-Z]{3}/)[0];
    return { id, reference, path: `/d/${this.ready.tenant}/${reference}` };
  }

  /** What the asker learns. */
  async poll(id) {
    return (await fetch(`${this.ready.env.ELICITATION_POLL_URL}/${id}`)).json();
  }

  /** Makes questions of every tier need `assurance`. */
  needs(assurance) {
    const tier = { assurance };
    const tiers = { read: tier, write: tier, commit: tier, external: tier };
    return this.api("PUT", "/v1/policy", { tiers, self_approval: "allow" });
  }
}
