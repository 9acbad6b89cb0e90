// Both wires as they were: heads, bytes, and when each piece came.  And the events the client was told.

import { ask } from "./api.js";
import { bytes, capped, copyButton, count, facts, fill, fold, h, json, listed, plural, pretty, seconds } from "./dom.js";
import { placesIn } from "./text.js";

export function wires(whole) {
  const { row, client, steps, answer } = whole;
  const path = `exchanges/${row.number}/wire`;
  const query = client.query ? `?${client.query}` : "";
  return [
    h("p", { class: "quiet" }, "Keys are blotted out before anything is kept. Times count from the beginning of the exchange."),
    wire("Client → gateway", `${client.method} ${client.path}${query}`, client.headers, client.size, `${path}/request`),
    steps.filter((step) => step.kind !== "server_tools" && step.hop !== null).map((step, at) => [
      wire(`Gateway → ${step.place || "provider"} · step ${at + 1}`, `${step.method} ${step.url}`, step.headers, step.sizes[0], `${path}/sent-${step.hop}`),
      wire(`${step.place || "provider"} → gateway · step ${at + 1}`, step.status ? `${step.status} after ${seconds(step.opened - step.begun)}` : step.error || "no answer", step.got_headers, step.sizes[1], `${path}/got-${step.hop}`),
    ]),
    wire("Gateway → client", answer.status ? String(answer.status) : "nothing yet", answer.headers, answer.size, `${path}/response`),
  ];
}

function wire(title, line, headers, size, path) {
  return fold(h("span", {}, h("b", {}, title), " ", h("code", {}, line), h("span", { class: "quiet" }, ` ${bytes(size)}`)), () => {
    const box = h("div", {}, h("p", { class: "quiet" }, "…"));
    ask(path).then((body) => fill(box, shown(body, headers)), (error) => fill(box, h("p", { class: "failure" }, error.message)));
    return box;
  }, false, { class: "wire" });
}

function shown(body, headers) {
  const out = h("div", {});
  const ways = { Raw: () => capped(body.text, 20000), Pieces: () => pieces(body) };
  if (pretty(body.text)) ways.JSON = () => capped(pretty(body.text), 20000);
  const first = ways.JSON ? "JSON" : "Raw";
  const buttons = Object.keys(ways).map((way) => h("button", { type: "button", onclick: () => choose(way) }, way));
  const choose = (way) => {
    buttons.forEach((button) => button.setAttribute("aria-pressed", String(button.textContent === way)));
    fill(out, ways[way]());
  };
  choose(first);
  return [
    Object.keys(headers).length ? facts(Object.entries(headers)) : null,
    h("p", { class: "buttons" }, buttons, copyButton(() => body.text), h("span", { class: "quiet" }, `${bytes(body.size)} in ${plural(body.count, "piece")}`)),
    body.cut ? h("p", { class: "failure" }, `Only the first part is kept: the body was ${bytes(body.size)}.`) : null,
    body.text ? out : h("p", { class: "quiet" }, "No bytes."),
  ].filter(Boolean);
}

function pieces(body) {
  const place = placesIn(body.text);
  let start = 0;
  const rows = body.pieces.map(([at, end]) => { const piece = [at, body.text.slice(start, place(end))]; start = place(end); return piece; });
  return h("div", { class: "pieces" }, listed(rows, ([at, text]) => h("div", { class: "piece" }, h("time", {}, seconds(at)), capped(text, 400)), 300, "piece"));
}

// ── events ──────────────────────────────────────────────────────────────────

export function events(whole) {
  const sent = whole.answer.events;
  if (!sent.length) return [h("p", { class: "quiet" }, "No events.")];
  return [
    h("p", { class: "quiet" }, "What the client was told, read back from the bytes it got. Deltas that follow each other stand as one, with how many they were."),
    h("div", { class: "events" }, listed(sent, event, 300, "event")),
  ];
}

export function event(one) {
  const { kind, at, until, count: times, text, json: written, message, ...rest } = one;
  const body = text ?? written ?? message ?? (kind === "CallStarted" ? `${rest.name}  ${rest.id}` : detail(rest));
  return h("div", { class: `event is-${kind}` },
    h("time", { title: until !== at ? `until ${seconds(until)}` : "" }, seconds(at ?? 0)), h("b", {}, kind.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase(), times > 1 ? h("span", { class: "quiet" }, ` ×${count(times)}`) : null),
    capped(body, 600));
}

function detail(rest) {
  const fields = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== null && value !== "" && !(typeof value === "object" && !Object.keys(value).length)));
  return Object.keys(fields).length ? json(fields) : "";
}
