// The exchange at a glance: what was asked, each step with what was sent, written and judged, and what was told.

import { bytes, capped, chip, count, facts, fold, h, json, listed, plural, seconds } from "./dom.js";
import { coloured, evidence, legend, pick, verdicts, why } from "./text.js";

export function story(whole) {
  const { row, client, steps, answer } = whole;
  const end = Math.max(row.seconds, 0.001);
  let number = 0;
  return [
    row.content === false ? h("p", { class: "quiet bare" }, "What was said was not recorded: [recordings] content = true records it from then on.") : section("The client asked", asked(client)),
    steps.map((step) => step.kind === "server_tools" ? serverTools(step) : attempt(step, step.kind === "keys" ? 0 : ++number, end)),
    row.live ? h("p", { class: "quiet" }, "It still runs; what comes next appears here.") : null,
    section("The client was told", answerOf(answer, row)),
  ];
}

function section(title, ...inside) {
  return h("section", { class: "part" }, h("h3", {}, title), inside);
}

// ── what was asked ──────────────────────────────────────────────────────────

function asked(client) {
  if (client.error) return h("p", { class: "failure" }, client.error);
  return client.request ? request(client.request, 3) : h("p", { class: "quiet" }, "No request that could be read.");
}

export function request(asked, newest = Infinity) {
  const early = asked.messages.slice(0, Math.max(0, asked.messages.length - newest)), late = asked.messages.slice(early.length);
  return [
    early.length ? fold(`${plural(early.length, "earlier message")}`, () => listed(early, message, 100, "message")) : null,
    late.map(message),
    tools(asked.tools),
    facts([
      ["tool choice", asked.tool_choice], ["parallel", asked.parallel === null ? "" : String(asked.parallel)],
      ...Object.entries(asked.sampling).map(([name, value]) => [name.replaceAll("_", " "), json(value)]),
    ]),
    asked.output_schema ? fold("The answer's form is demanded", () => capped(json(asked.output_schema))) : null,
    Object.keys(asked.extra).length ? fold(`${plural(Object.keys(asked.extra).length, "more field")}: ${Object.keys(asked.extra).join(", ")}`, () => capped(json(asked.extra))) : null,
  ];
}

function message(one) {
  const mark = { added: "added here", changed: "changed here" }[one.origin];
  return h("article", { class: `message is-${one.role} ${one.origin ? `was-${one.origin}` : ""}` },
    h("header", {}, h("b", {}, one.role), mark ? chip(mark, one.origin) : null), one.parts.map(part));
}

function part(one) {
  if (one.kind === "call") return call(one);
  if (one.kind === "text") return capped(one.text, 1500);
  const title = { reasoning: "reasoning", result: `result of ${one.name || one.id || "a call"}`, media: "media", other: "a block of its own API" }[one.kind];
  return h("div", { class: `sub is-${one.kind}` }, h("b", {}, title, one.is_error ? chip(one.code || "error", "failed") : null), capped(one.text, 1500));
}

function tools(offered) {
  if (!offered.length) return null;
  return fold(h("span", {}, h("b", {}, plural(offered.length, "tool")), ` ${offered.map((tool) => tool.name).join(", ")}`), () => offered.map((tool) =>
    fold(h("span", {}, h("code", {}, tool.name), ` ${tool.description.slice(0, 160)}`), () => [capped(tool.description, 1500), capped(json(tool.parameters), 4000)])), false, { class: "tools" });
}

export function call(made) {
  const report = made.report;
  return h("div", { class: "call" },
    h("b", {}, "→ ", h("code", {}, made.name)), report ? chip(report.verdict) : null,
    report?.dialect ? h("span", { class: "quiet" }, `${report.dialect} · ${report.tier.replaceAll("_", " ")} · ${report.rule.replaceAll("_", " ")}`) : null,
    made.id || Object.keys(made.arguments).length ? capped(json(made.arguments), 2000) : null,
    report?.rule || report?.reason ? h("span", { class: "why" }, why(report)) : null,
    report?.words?.length || report?.mends?.length ? fold("evidence", () => evidence(report)) : null);
}

// ── steps ───────────────────────────────────────────────────────────────────

const BESIDES = {
  counts: "was asked again with its tools in text, for its counts left no room for them",
  canary: "was asked by the gateway whether it reads its tools",
};

function attempt(step, number, end) {
  const doubt = step.asks?.length > 0;
  const asked = step.besides ? BESIDES[step.besides] : doubt ? `was asked whether it meant ${step.asks.length === 1 ? "a call" : "some calls"}` : `was asked${step.reask ? " again" : ""}`;
  const title = step.kind === "keys" ? "A token was fetched" : `Step ${number}: ${step.place || "a provider"} ${asked}`;
  return h("section", { class: "part step" },
    h("h3", {}, title, doubt ? chip("doubt", "doubtful") : step.reask ? chip(`re-ask ${step.reask}`, "reasked") : null, step.attempt > 1 ? chip(`attempt ${step.attempt}`, "fallback") : null,
      step.tools_as ? chip(step.tools_as === "text" ? "tools told as text" : "native tools", "plain") : null,
      step.status ? chip(String(step.status), step.status >= 400 ? "failed" : "plain") : null),
    step.hop === null ? null : times(step, end),
    step.correction?.length ? [h("p", { class: "label" }, doubt ? "The question:" : "What was wrong, as the model was told:"), step.correction.slice(-1).map(message)] : null,
    step.sent ? fold(sentSummary(step), () => request(step.sent)) : null,
    step.error || step.failure ? h("p", { class: "failure" }, step.failure?.message || step.error) : null,
    step.refusal ? capped(step.refusal, 1000, { class: "text failure" }) : null,
    step.wrote ? wrote(step.wrote) : step.answered ? answered(step.answered) : null,
    doubt ? [h("p", { class: "label" }, "What the model said of each call in doubt:"), step.asks.map(settled)] : null);
}

function settled(one) {
  return h("div", { class: "doubt", data: { answer: one.answer } }, chip(one.answer),
    one.remembered ? h("p", { class: "remembered" }, h("b", {}, "remembered"), ` this model means calls that it writes so: ${one.remembered}`) : null,
    call(one.call));
}

function sentSummary(step) {
  const made = step.sent.messages.filter((one) => one.origin === "added" || one.origin === "changed").length;
  return h("span", {}, h("b", {}, "Sent to the model"), ` ${plural(step.sent.messages.length, "message")}${made ? `, ${made} of them added or changed here` : ", as the client said them"}, ${bytes(step.sizes[0])}`);
}

function times(step, end) {
  const to = step.ended ?? end, first = step.first ?? step.opened ?? to;
  const share = (value) => `${Math.min(100, (100 * value) / end)}%`;
  return h("div", { class: "times", title: "when it was asked, when the first bytes came, when it ended" },
    h("div", { class: "rail" },
      h("span", { class: "wait", vars: { left: share(step.begun), width: share(first - step.begun) } }),
      h("span", { class: "flow", vars: { left: share(first), width: share(Math.max(to - first, 0)) } })),
    h("span", { class: "quiet" }, `asked at ${seconds(step.begun)}, first bytes after ${step.first === null ? "–" : seconds(first - step.begun)}, took ${seconds(to - step.begun)}, ${bytes(step.sizes[1])}`));
}

export function wrote(written) {
  const box = h("div", { class: "wrote" });
  const onpick = (number) => pick(box, number);
  box.append(...[
    h("p", { class: "label" }, h("b", {}, "The model wrote"), ` ${count(written.text.length)} characters${written.is_reasoning ? " of reasoning, and nothing else," : ""} in ${plural(written.pieces, "piece")}`,
      written.usage ? `, ${count(written.usage.input)} → ${count(written.usage.output)} tokens` : "", written.stop ? `, stopped: ${written.stop}` : ""),
    written.is_reasoning ? h("p", { class: "quiet" }, "The provider gave it as reasoning, by the wire; it was read for calls.") : null,
    written.reasoning && !written.is_reasoning ? fold(`Reasoning, by the wire: ${count(written.reasoning.length)} characters`, () => capped(written.reasoning)) : null,
    written.text ? [coloured(written, { onpick }), legend(written.spans)] : h("p", { class: "quiet" }, "No text."),
    written.calls.length ? [h("p", { class: "label" }, "Native calls, as the wire told them:"), written.calls.map(call)] : null,
    written.text ? verdicts(written, onpick) : null,
    written.parser ? h("p", { class: "quiet" }, parserInput(written.parser)) : null,
    written.error ? h("p", { class: "failure" }, written.error) : null,
  ].flat(Infinity).filter(Boolean));
  return box;
}

function parserInput(parser) {
  const dialects = parser.dialects === "auto" ? "all dialects" : parser.dialects;
  return [`Listened for ${dialects}`, parser.prompted_dialect ? `asked to write ${parser.prompted_dialect}` : "", parser.prefix ? `the template had opened ${JSON.stringify(parser.prefix)}` : "",
    parser.shown ? `shown ${plural(parser.shown, "result")}` : "", ...parser.confirmed.map((habit) => `confirmed before: ${habit}`)].filter(Boolean).join(" · ");
}

function serverTools(step) {
  return h("section", { class: "part step" }, h("h3", {}, "Tools were run here"), step.results.map((one) => [
    call(one.call), h("div", { class: "sub is-result" }, h("b", {}, "result", one.is_error ? chip(one.code || "error", "failed") : null), capped(one.text, 1500)),
  ]));
}

// ── what was told ───────────────────────────────────────────────────────────

function answerOf(answer, row) {
  const response = answer.response;
  return [
    row.error ? h("p", { class: "failure" }, `${row.status}: ${row.error}`) : null,
    response ? answered(response) : row.error || row.live ? null : h("p", { class: "quiet" }, "Nothing."),
  ];
}

export function answered(response) {
  return [
    response.reasoning ? fold(`Reasoning: ${count(response.reasoning.length)} characters`, () => capped(response.reasoning)) : null,
    response.text ? capped(response.text, 4000) : null,
    response.calls.map(call),
    response.doubtful.length ? [h("p", { class: "label" }, "In doubt, and not run:"), response.doubtful.map(call)] : null,
    response.issues.length ? h("ul", { class: "issues" }, response.issues.map((issue) => h("li", {}, chip(issue.kind.replaceAll("_", " "), "issue"), " ", issue.message,
      issue.raw ? fold("what was written", () => capped(issue.raw, 2000)) : null,
      issue.correction ? fold("what to tell the model", () => capped(issue.correction, 2000)) : null))) : null,
    facts([["stopped", response.stop], ["tokens in", response.usage ? count(response.usage.input) : ""], ["tokens out", response.usage ? count(response.usage.output) : ""],
      ["cached", response.usage?.cached || ""], ["reasoning tokens", response.usage?.reasoning || ""]]),
  ];
}
