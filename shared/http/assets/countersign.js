"use strict";
// Adds to pages that work without it: a live countdown, questions that settle in place, and keys for the inbox.
// It reads and it presses buttons that are on a page; it decides nothing by itself.
((words) => {
  const main = document.querySelector("main[data-page]");
  if (!main) return;
  const page = main.dataset.page;
  const skew = Number(main.dataset.now || 0) - Date.now();
  const now = () => Date.now() + (main.dataset.now ? skew : 0);

  const put = (sentence, value) => sentence.replace("{}", value);
  const left = (ms) => {
    const { time } = words;
    const s = Math.max(0, Math.floor(ms / 1000));
    const two = (high, low, unit) => (low ? `${high} ${put(unit, low)}` : high);
    const [minutes, hours, days] = [60, 3600, 86400].map((unit) => Math.floor(s / unit));
    if (s < 600) return put(time.left, `${minutes}:${String(s % 60).padStart(2, "0")}`);
    if (s < 3600) return put(time.left, put(time.minutes, minutes));
    if (s < 86400) return put(time.left, two(put(time.hours, hours), minutes % 60, time.minutes));
    return put(time.left, two(days > 1 ? put(time.days, days) : time.one_day, hours % 24, time.hours));
  };

  // Asks after 5 s, later and later while nothing answers, and not at all while nobody looks.
  const poll = (url, seen) => {
    let wait = 5000;
    const again = () => setTimeout(ask, wait * (0.9 + Math.random() * 0.2));
    const ask = async () => {
      if (document.hidden) return again();
      try {
        const answer = await fetch(url(), { headers: { Accept: "application/json" }, credentials: "same-origin" });
        if (answer.status === 401) return;
        if (!answer.ok) throw new Error(String(answer.status));
        wait = 5000;
        if (seen(await answer.json()) === "stop") return;
      } catch {
        wait = Math.min(wait * 2, 60000);
      }
      again();
    };
    again();
    document.addEventListener("visibilitychange", () => { if (!document.hidden) wait = Math.min(wait, 5000); });
  };

  const clockOf = (until, shown, bar, holder) => {
    const tick = () => {
      const ms = until - now();
      shown.textContent = left(ms);
      if (holder) holder.classList.toggle("clock-short", ms < 60000);
      if (bar) bar.value = Math.max(0, Math.floor(ms / 1000));
    };
    tick();
    setInterval(tick, 1000);
  };

  const note = (holder, title, text, href, link) => {
    const box = document.createElement("div");
    box.className = "alert alert-calm";
    const inner = document.createElement("div");
    const head = document.createElement("h2");
    head.textContent = title;
    inner.append(head);
    if (text) { const p = document.createElement("p"); p.textContent = text; inner.append(p); }
    if (href) { const a = document.createElement("a"); a.href = href; a.textContent = link; inner.append(a); }
    box.append(document.createElement("span"), inner);
    holder.replaceChildren(box);
  };

  // A passkey is asked for when a button is pressed that needs one, and the form goes on its way with the answer. A form
  // may need two: one that vouches, and a new one.
  const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (one) => one.charCodeAt(0));
  const spelled = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
  const known = (ids) => ids.split(" ").filter(Boolean).map((id) => ({ type: "public-key", id: bytes(id) }));
  const used = async ({ rp, challenge, ids }) => {
    const publicKey = { rpId: rp, challenge: bytes(challenge), allowCredentials: known(ids), userVerification: "required" };
    const { rawId, response } = await navigator.credentials.get({ publicKey });
    const { clientDataJSON, authenticatorData, signature } = response;
    return { id: spelled(rawId), client_data: spelled(clientDataJSON), authenticator_data: spelled(authenticatorData), signature: spelled(signature) };
  };
  const made = async ({ rp, challenge, ids, person, user }) => {
    const publicKey = {
      rp: { id: rp, name: "Countersign" },
      user: { id: bytes(user), name: person, displayName: person },
      challenge: bytes(challenge),
      pubKeyCredParams: [-7, -8, -257].map((alg) => ({ type: "public-key", alg })),
      excludeCredentials: known(ids),
      authenticatorSelection: { residentKey: "preferred", userVerification: "required" },
      attestation: "none",
    };
    const { rawId, response } = await navigator.credentials.create({ publicKey });
    return {
      id: spelled(rawId),
      client_data: spelled(response.clientDataJSON),
      authenticator_data: spelled(response.getAuthenticatorData()),
      public_key: spelled(response.getPublicKey()),
      algorithm: response.getPublicKeyAlgorithm(),
    };
  };
  for (const form of main.querySelectorAll("form")) {
    const holders = [...form.querySelectorAll("[data-passkey]")];
    if (!holders.length) continue;
    form.addEventListener("submit", async (event) => {
      const { submitter } = event;
      const isNeeded = page === "me" || submitter?.value === "accept";
      if (!isNeeded || holders.every((one) => one.value)) return;
      event.preventDefault();
      const w = words.script;
      const box = document.getElementById("passkey-note");
      try {
        for (const one of holders) one.value = JSON.stringify(await (one.dataset.passkey === "use" ? used : made)(one.dataset));
      } catch (error) {
        for (const one of holders) one.value = "";
        if (error.name === "InvalidStateError") note(box, w.passkey_there, w.passkey_there_why);
        else if (["NotAllowedError", "AbortError"].includes(error.name)) note(box, w.passkey_stopped, w.passkey_stopped_why);
        else note(box, w.passkey_cannot, w.passkey_cannot_why);
        return;
      }
      form.requestSubmit(submitter);
    });
  }

  if (page === "decision") {
    const until = Number(main.dataset.decideBy);
    clockOf(until, document.getElementById("clock-left"), document.getElementById("clock-bar"), main.querySelector(".clock"));
    const label = document.getElementById("clock-until");
    const time = label.querySelector("time");
    label.replaceChildren(words.script.decide_by, time);
    const wrong = document.getElementById("wrong");
    if (wrong) wrong.focus();
    poll(() => main.dataset.path, (question) => {
      if (!question.settled) return;
      note(document.getElementById("settled-note"), question.settled, words.script.nothing_sent, main.dataset.path, words.script.see_outcome);
      for (const button of main.querySelectorAll(".answer button")) button.disabled = true;
      return "stop";
    });
  }

  if (page === "outcome") {
    poll(() => location.pathname, (question) => {
      if (!question.collected) return;
      location.reload();
      return "stop";
    });
  }

  if (page !== "inbox") return;
  const rows = () => [...document.querySelectorAll("li.row[data-reference]")];
  const open = () => rows().filter((row) => !row.classList.contains("row-done"));
  setInterval(() => {
    for (const row of open()) {
      const ms = Number(row.dataset.decideBy) - now();
      const shown = row.querySelector(".row-time");
      shown.textContent = left(ms);
      shown.classList.toggle("row-short", ms < 60000);
    }
  }, 1000);

  const settle = (row, text) => {
    row.classList.add("row-done");
    row.querySelector(".row-time").textContent = text;
    const end = row.querySelector(".row-end");
    if (end) end.replaceChildren();
  };

  const view = main.dataset.view;
  if (view !== "mine") {
    const url = () => `/inbox?view=${view}&shown=${rows().map((row) => row.dataset.reference).join(",")}`;
    poll(url, (inbox) => {
      const settled = new Map(inbox.shown.map((one) => [one.reference, one.settled]));
      const known = new Set(rows().map((row) => row.dataset.reference));
      for (const row of open()) {
        const text = settled.get(row.dataset.reference);
        if (text) settle(row, text);
      }
      const fresh = inbox.open.filter((one) => !known.has(one.reference)).length;
      // New rows come when they are asked for: a list that moves under the finger is answered wrongly.
      if (fresh) note(document.getElementById("news"), fresh === 1 ? words.script.new_question : put(words.script.new_questions, fresh), "", location.href, fresh === 1 ? words.script.show_it : words.script.show_them);
      const { none_wait, one_waits, some_wait, inbox_title } = words.script;
      const count = inbox.open.length;
      document.title = put(inbox_title, count);
      const heading = document.getElementById("inbox-title");
      if (count || view === "open") heading.textContent = count > 1 ? put(some_wait, count) : count ? one_waits : none_wait;
    });
  }

  // Keys. One press approves nothing that needs more than a tap, and ? switches them off.
  let keys = true;
  try { keys = localStorage.getItem("cs-keys") !== "off"; } catch { /* private window */ }
  let cursor = -1;
  const move = (by) => {
    const list = rows();
    if (!list.length) return;
    cursor = Math.min(list.length - 1, Math.max(0, cursor + by));
    for (const row of list) row.classList.toggle("row-cursor", row === list[cursor]);
    list[cursor].querySelector(".row-title a").focus();
    list[cursor].scrollIntoView({ block: "nearest" });
  };
  const decide = async (row, action) => {
    if (row.classList.contains("row-done")) return;
    if (action !== "cancel" && action !== "decline" && !row.dataset.tap) { location.href = row.dataset.path; return; }
    try {
      const headers = { Accept: "application/json" };
      const question = await (await fetch(row.dataset.path, { headers, credentials: "same-origin" })).json();
      if (!question.csrf) { location.href = row.dataset.path; return; }
      const body = new URLSearchParams({ csrf: question.csrf, action });
      const answer = await fetch(row.dataset.path, { method: "POST", headers, body, credentials: "same-origin" });
      const came = await answer.json();
      if (answer.ok && came.settled) settle(row, came.settled);
      else location.href = row.dataset.path;
    } catch {
      location.href = row.dataset.path;
    }
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target instanceof Element && event.target.closest("input:not([type=checkbox]), textarea, select")) return;
    const focused = event.target instanceof Element && event.target.closest("li.row[data-reference]");
    if (focused) cursor = rows().indexOf(focused);
    if (event.key === "?") {
      keys = !keys;
      try { localStorage.setItem("cs-keys", keys ? "on" : "off"); } catch { /* private window */ }
      note(document.getElementById("news"), keys ? words.script.keys_on : words.script.keys_off, words.script.keys_help);
      return;
    }
    if (!keys) return;
    const row = rows()[cursor];
    if (event.key === "j") move(1);
    else if (event.key === "k") move(cursor < 0 ? 1 : -1);
    else if (event.key === "Enter" && row && document.activeElement === document.body) location.href = row.dataset.path;
    else if (event.key === " " && row && !(event.target instanceof HTMLInputElement)) {
      const check = row.querySelector("input[type=checkbox]");
      if (!check) return;
      check.checked = !check.checked;
      event.preventDefault();
    } else if (event.key === "a" && row) decide(row, "accept");
    else if (event.key === "d" && row) decide(row, "decline");
    else if (event.key === "x" && row) decide(row, "cancel");
    else return;
    if (event.key !== "Enter") event.preventDefault();
  });
})(/* words */);
