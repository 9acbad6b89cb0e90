// What the page asks the gateway.  The key, where one is asked for, stays in this tab.

import { byId, fill, h } from "./dom.js";

const KEY = "dragoman-key";
let key = sessionStorage.getItem(KEY) ?? "";
let asking = null;

export class Refused extends Error {
  constructor(status, message) { super(message); this.status = status; }
}

export async function ask(path, { method = "GET", body } = {}) {
  const headers = key ? { authorization: `Bearer ${key}` } : {};
  if (body !== undefined) headers["content-type"] = "application/json";
  const answer = await fetch(`/inspect/api/${path}`, {
    method, headers, cache: "no-store", credentials: "omit", body: body === undefined ? undefined : JSON.stringify(body),
  });
  if (answer.status === 401) {
    await askForKey(key !== "");
    return ask(path, { method, body });
  }
  const data = await answer.json();
  if (!answer.ok) throw new Refused(answer.status, data.error?.message ?? `the gateway answered ${answer.status}`);
  return data;
}

function askForKey(wrong) {
  asking ??= new Promise((resolve) => {
    const dialog = byId("ask");
    const input = h("input", { type: "password", autocomplete: "off", "aria-label": "Key", required: true });
    const done = (event) => {
      event.preventDefault();
      key = input.value.trim();
      sessionStorage.setItem(KEY, key);
      asking = null;
      dialog.close();
      resolve();
    };
    dialog.oncancel = (event) => event.preventDefault();
    fill(dialog, h("form", { onsubmit: done },
      h("h2", {}, "A key is needed"),
      h("p", {}, wrong ? "That key is not known here." : "This gateway asks for keys. The page keeps yours in this tab only."),
      input, h("p", { class: "buttons" }, h("button", { type: "submit", class: "main" }, "Open"))));
    dialog.showModal();
    input.focus();
  });
  return asking;
}
