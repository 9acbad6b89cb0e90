// Elements out of plain values.  Contract: what was said only ever becomes text, never markup.

export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "class") element.className = value;
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "data") Object.assign(element.dataset, value);
    else if (name === "vars") for (const [key, each] of Object.entries(value)) element.style.setProperty(key, each);
    else if (name === "value" || name === "checked" || name === "hidden" || name === "open" || name === "disabled") element[name] = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false && child !== ""));
  return element;
}

export const byId = (id) => document.getElementById(id);

export function fill(element, ...children) {
  element.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export function seconds(value) {
  if (value === null || value === undefined) return "–";
  if (value < 0.0995) return `${(value * 1000).toFixed(value < 0.00995 ? 1 : 0)} ms`;
  return value < 59.95 ? `${value.toFixed(2)} s` : `${Math.floor(value / 60)} min ${Math.round(value % 60)} s`;
}

export function bytes(value) {
  if (value < 1024) return `${value} B`;
  return value < 1024 * 1024 ? `${(value / 1024).toFixed(1)} kB` : `${(value / 1024 / 1024).toFixed(1)} MB`;
}

export const count = (value) => value.toLocaleString("en-US");
export const clock = (at) => new Date(at * 1000).toLocaleTimeString([], { hour12: false });
export const plural = (number, word) => `${count(number)} ${word}${number === 1 ? "" : "s"}`;

export function chip(word, kind = word) {
  return h("span", { class: `chip is-${String(kind).replaceAll(" ", "-")}` }, word);
}

// A text as it was written; what is long is cut until somebody wants all of it.
export function capped(text, most = 4000, props = {}) {
  const pre = h("pre", { class: "text", tabindex: "0", ...props });
  const show = (all) => {
    pre.textContent = all || text.length <= most ? text : text.slice(0, most);
    if (!all && text.length > most) pre.append(more(text.length - most, () => show(true)));
  };
  show(false);
  return pre;
}

export function more(left, act, what = "character") {
  return h("button", { type: "button", class: "more", onclick: (event) => { event.stopPropagation(); act(); } },
    `… show all (${plural(left, what)} more)`);
}

// A list of elements made one by one; beyond `most` on demand.
export function listed(items, make, most = 200, what = "row") {
  const made = items.slice(0, most).map(make);
  if (items.length <= most) return made;
  const button = more(items.length - most, () => button.replaceWith(...items.slice(most).map((item, at) => make(item, at + most))), what);
  return [...made, button];
}

export function fold(summary, content, open = false, props = {}) {
  const inside = h("div", { class: "folded" });
  const build = () => { if (!inside.firstChild) inside.append(...[content()].flat(Infinity).filter(Boolean)); };
  if (open) build();
  return h("details", { open, ...props, ontoggle: (event) => { if (event.target.open) build(); } },
    h("summary", {}, summary), inside);
}

export function json(value) {
  return JSON.stringify(value, null, 2) ?? "";
}

export function pretty(text) {
  try { return json(JSON.parse(text)); } catch { return null; }
}

export function facts(pairs) {
  const shown = pairs.filter(([, value]) => value !== "" && value !== null && value !== undefined && value !== false);
  return shown.length === 0 ? null : h("dl", { class: "facts" }, shown.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
}

export function copyButton(text) {
  const button = h("button", { type: "button" }, "Copy");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text());
      button.textContent = "Copied";
    } catch {
      button.textContent = "Select it and copy by hand: this address may not use the clipboard";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
  return button;
}
