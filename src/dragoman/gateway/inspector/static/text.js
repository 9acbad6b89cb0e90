// A model's text, character for character, each span in the colour of what was judged of it.

import { ask } from "./api.js";
import { chip, fold, h, more } from "./dom.js";

// Kinds of spans as the gateway names them: name, sign, words.  Their colours are colours.css.
let kinds = [];
export function named(given) { kinds = given; }
const sign = (kind) => kinds.find(([name]) => name === kind)?.[1] ?? "";

// The gateway counts characters, a page counts halves of those beyond U+FFFF: places in `text`, as the page counts.
export function placesIn(text) {
  if (!/[\ud800-\udbff][\udc00-\udfff]/.test(text)) return (place) => place;
  const places = [0];
  for (const character of text) places.push(places[places.length - 1] + character.length);
  return (place) => places[Math.min(place, places.length - 1)];
}

export function placed(wrote) {
  const at = placesIn(wrote.text);
  wrote.spans = wrote.spans.map(([start, end, ...rest]) => [at(start), at(end), ...rest]);
  wrote.marks = (wrote.marks ?? []).map(([start, end, ...rest]) => [at(start), at(end), ...rest]);
  for (const stage of wrote.stages ?? []) stage.read = at(stage.read);
  return wrote;
}

export async function exchange(number) {
  const whole = await ask(`exchanges/${number}`);
  for (const step of whole.steps) if (step.wrote) placed(step.wrote);
  return whole;
}

export function legend(spans) {
  const there = new Set(spans.map((span) => span[2]));
  return h("p", { class: "legend" }, kinds.filter(([kind]) => there.has(kind)).map(([kind, , says]) =>
    h("span", { class: "key" }, h("span", { class: `span-${kind}` }, " a "), says)));
}

// `wrote` holds text, spans, findings and marks (places of edits); `from` to `to` is the part that is shown.
export function coloured(wrote, { most = 20000, from = 0, to = Infinity, onpick } = {}) {
  const pre = h("pre", { class: "text coloured", tabindex: "0" });
  const show = (limit) => {
    const end = Math.min(wrote.text.length, to, from + limit);
    pre.replaceChildren(...pieces(wrote, from, end, onpick));
    const left = Math.min(wrote.text.length, to) - end;
    if (left > 0) pre.append(more(left, () => show(Infinity)));
  };
  show(most);
  return pre;
}

function* pieces(wrote, from, end, onpick) {
  for (const [start, stop, kind, number] of wrote.spans) {
    const first = Math.max(start, from), last = Math.min(stop, end);
    if (first >= last) continue;
    if (number === null) {
      yield h("span", { class: `span-${kind}` }, wrote.text.slice(first, last));
      continue;
    }
    const found = wrote.findings[number];
    yield h("span", {
      class: `span-${kind}`, title: sentence(found), tabindex: "0", role: "button",
      data: { finding: number, label: first === start ? `${sign(kind)} ${found.name || found.rule}` : "" },
      onclick: () => onpick?.(number), onkeydown: (event) => { if (event.key === "Enter") onpick?.(number); },
    }, ...marked(wrote, number, first, last));
  }
}

function* marked(wrote, number, first, last) {
  let at = first;
  for (const [start, stop, finding, edit] of wrote.marks ?? []) {
    if (finding !== number || start < at || stop > last) continue;
    yield wrote.text.slice(at, start);
    yield h("mark", { title: wrote.findings[number].mends[edit] }, wrote.text.slice(start, stop));
    at = stop;
  }
  yield wrote.text.slice(at, last);
}

export function sentence(found) {
  const name = found.name ? ` ${found.name}` : "";
  return `${found.verdict}${name}: ${found.reason || found.rule}`;
}

// What was seen of a candidate, and what was mended: a line for each.
export function evidence({ words = [], mends = [] }) {
  return [
    words.length ? h("dl", { class: "evidence" }, words.map(([label, said]) => [h("dt", {}, label), h("dd", {}, said)])) : null,
    mends.length ? h("ul", { class: "edits" }, mends.map((each) => h("li", {}, each))) : null,
  ];
}

// One line per candidate: verdict, tool, why; a click shows its place in the text.  Below it all evidence.
const OPEN = 12;
export function verdicts(wrote, onpick) {
  if (!wrote.findings.length) return h("p", { class: "quiet" }, wrote.parser ? "No candidate for a call was found." : "Nothing was listened for: this request had no tools, or forbade calls.");
  const open = wrote.findings.length <= OPEN;
  return h("ul", { class: "verdicts" }, wrote.findings.map((found, number) => h("li", { data: { verdict: found.verdict, rule: found.rule } },
    h("button", { type: "button", class: "row", onclick: () => onpick(number) },
      chip(found.verdict), h("code", {}, found.name || "–"),
      h("span", { class: "why" }, why(found)),
      h("span", { class: "quiet" }, [found.dialect, `characters ${found.span[0]}–${found.span[1]}`].filter(Boolean).join(" · "))),
    open ? evidence(found) : found.words.length || found.mends.length ? fold("evidence", () => evidence(found)) : null)));
}

export function why({ rule, verdict, reason }) {
  const name = rule === verdict ? "" : rule.replaceAll("_", " ");
  return [name, reason].filter(Boolean).join(": ");
}

export function pick(box, number) {
  const span = box.querySelector(`[data-finding="${number}"]`);
  for (const other of box.querySelectorAll(".picked")) other.classList.remove("picked");
  span?.classList.add("picked");
  span?.scrollIntoView({ block: "nearest" });
}
