// A model's text, character for character, each span in the colour of what was judged of it.

import { ask } from "./api.js";
import { chip, h, more, plural } from "./dom.js";

export const KINDS = [
  ["text", "text"], ["reasoning", "reasoning"], ["markup", "markup"], ["accepted", "call, as written"],
  ["mended", "call, mended"], ["refused", "call, refused"], ["doubtful", "call in doubt"], ["quoted", "not meant as a call"], ["dropped", "taken out"],
];
const SAYS = { accepted: "✓", mended: "~", refused: "✕", doubtful: "?", quoted: "“”", dropped: "–" };

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
  return h("p", { class: "legend" }, KINDS.filter(([kind]) => there.has(kind)).map(([kind, says]) =>
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
      data: { finding: number, label: first === start ? `${SAYS[kind] ?? ""} ${found.name || found.rule}` : "" },
      onclick: () => onpick?.(number), onkeydown: (event) => { if (event.key === "Enter") onpick?.(number); },
    }, ...marked(wrote, number, first, last));
  }
}

function* marked(wrote, number, first, last) {
  let at = first;
  for (const [start, stop, finding, edit] of wrote.marks ?? []) {
    if (finding !== number || start < at || stop > last) continue;
    yield wrote.text.slice(at, start);
    yield h("mark", { title: mend(wrote.findings[number].edits[edit]) }, wrote.text.slice(start, stop));
    at = stop;
  }
  yield wrote.text.slice(at, last);
}

export function sentence(found) {
  const name = found.name ? ` ${found.name}` : "";
  return `${found.verdict}${name}: ${found.reason || found.rule}`;
}

export function mend(edit) {
  const change = edit.before || edit.after ? `: ${edit.before || "(nothing)"} → ${edit.after || "(nothing)"}` : "";
  return `${edit.kind.replaceAll("_", " ")}${edit.path ? ` at ${edit.path}` : ""}${change}`;
}

// One line per candidate: verdict, tool, why; a click shows its place in the text.
export function verdicts(wrote, onpick) {
  if (!wrote.findings.length) return h("p", { class: "quiet" }, wrote.parser ? "No candidate for a call was found." : "Nothing was listened for: this request had no tools, or forbade calls.");
  return h("ul", { class: "verdicts" }, wrote.findings.map((found, number) => h("li", {},
    h("button", { type: "button", class: "row", onclick: () => onpick(number) },
      chip(found.verdict), h("code", {}, found.name || "–"),
      h("span", { class: "why" }, why(found)),
      h("span", { class: "quiet" }, [found.dialect, `characters ${found.span[0]}–${found.span[1]}`].filter(Boolean).join(" · "))),
    found.edits.length ? h("ul", { class: "edits" }, found.edits.map((edit) => h("li", {}, mend(edit)))) : null)));
}

function why(found) {
  if (found.verdict === "accepted") return "as written";
  if (found.verdict === "mended") return plural(found.edits.length, "mend");
  return found.rule === found.verdict ? found.reason : `${found.rule.replaceAll("_", " ")}: ${found.reason}`;
}

export function pick(box, number) {
  const span = box.querySelector(`[data-finding="${number}"]`);
  for (const other of box.querySelectorAll(".picked")) other.classList.remove("picked");
  span?.classList.add("picked");
  span?.scrollIntoView({ block: "nearest" });
}
