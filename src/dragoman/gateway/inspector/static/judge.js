// Judge again: the recorded text through the parser once more, as it was or otherwise, step by step; no model is asked.

import { ask } from "./api.js";
import { capped, count, fill, h, plural } from "./dom.js";
import { coloured, legend, pick, placed, verdicts } from "./text.js";
import { event } from "./wires.js";

const BEFORE = 6000, AFTER = 3000;

export function judge(whole, about) {
  const steps = whole.steps.filter((step) => step.wrote?.text);
  if (!steps.length) return [h("p", { class: "quiet" }, "No model wrote text here.")];
  const result = h("div", {});
  const form = controls(steps, about);
  const run = async () => {
    try {
      const asked = form.asked();
      fill(result, h("p", { class: "quiet" }, "…"));
      fill(result, reading(placed(await ask(`exchanges/${whole.row.number}/judge`, { method: "POST", body: asked }))));
    } catch (error) {
      fill(result, h("p", { class: "failure" }, error.message));
    }
  };
  form.element.addEventListener("change", run);
  form.element.addEventListener("submit", (one) => { one.preventDefault(); run(); });
  run();
  return [h("p", { class: "quiet" }, "The recorded text is read again by the parser. No model is asked, and nothing is sent."), form.element, result];
}

function select(options, props = {}) {
  return h("select", props, options.map(([value, says]) => h("option", { value }, says)));
}

function field(says, input) {
  return h("label", {}, h("span", {}, says), input);
}

function controls(steps, about) {
  const hop = select(steps.map((step, at) => [step.hop, `${at + 1}: ${step.place}${step.reask ? ` (re-ask ${step.reask})` : ""}`]));
  hop.value = steps[steps.length - 1].hop;
  const dialect = select([["as it was", "as it was"], ["auto", "all dialects"], ...about.dialects.map((name) => [name, name])], { id: "judge-dialect" });
  const chunk = select([["as it came", "as it came"], ["1", "1 character"], ["7", "7 characters"], ["64", "64 characters"], ["0", "all at once"]], { id: "judge-chunk" });
  const finish = select([["", "as it was"], ["stop", "stop"], ["length", "length: it was cut"]]);
  const strict = h("input", { type: "checkbox" });
  const tools = h("textarea", { rows: "6", spellcheck: "false", placeholder: "as they were; or JSON definitions in any provider's form; null: any name is believed" });
  const text = h("textarea", { rows: "6", spellcheck: "false", placeholder: "as it was written" });
  const element = h("form", { class: "controls" },
    field("Step", hop), field("Dialect", dialect), field("Pieces", chunk), field("Ended", finish), h("label", { class: "check" }, strict, h("span", {}, "strict: nothing is mended")),
    h("details", {}, h("summary", {}, "Other tools, another text"), field("Tools", tools), field("Text", text)),
    h("button", { type: "submit", class: "main" }, "Judge"));
  const asked = () => {
    const fields = { hop: Number(hop.value), dialect: dialect.value, strict: strict.checked };
    fields.chunk = chunk.value === "as it came" ? chunk.value : Number(chunk.value);
    if (finish.value) fields.finish_reason = finish.value;
    if (tools.value.trim()) fields.tools = JSON.parse(tools.value);
    if (text.value) fields.text = text.value;
    return fields;
  };
  return { element, asked };
}

function reading(read) {
  const view = h("div", {}), at = h("output", {});
  const last = read.stages.length;
  const slider = h("input", { type: "range", min: "0", max: String(last), id: "slider", "aria-label": "Characters read" });
  const show = () => {
    const stage = Number(slider.value);
    at.textContent = stage >= last ? "the end" : `${count(stage ? read.stages[stage - 1].read : 0)} of ${plural(read.text.length, "character")}`;
    fill(view, step(read, stage, last));
  };
  slider.addEventListener("input", show);
  slider.addEventListener("change", (one) => one.stopPropagation());
  slider.value = String(last);
  show();
  return h("div", { class: "reading" }, h("p", { class: "slider" }, slider, at), view);
}

function step(read, stage, last) {
  const fed = stage ? read.stages[stage - 1].read : 0;
  const answer = folded(read.stages.slice(0, stage));
  const from = Math.max(0, fed - BEFORE);
  const box = h("div", { class: "wrote" });
  const text = coloured(read, { from, to: fed, onpick: (number) => pick(box, number) });
  text.append(h("span", { class: "unread" }, read.text.slice(fed, fed + AFTER)));
  box.append(text, legend(read.spans), ...(stage >= last ? [verdicts(read, (number) => pick(box, number))] : []));
  const now = stage ? read.stages[stage - 1].events : [];
  return h("div", { class: "twice" },
    h("div", {}, h("p", { class: "label" }, from ? `The text, from character ${count(from)}` : "The text"), box),
    h("div", {}, h("p", { class: "label" }, "Decided so far"), decided(answer),
      h("p", { class: "label" }, "Settled by this step"), now.length ? now.map(event) : h("p", { class: "quiet" }, "Nothing yet: it waits for more.")));
}

// The events so far, as one answer.
function folded(stages) {
  const answer = { text: "", reasoning: "", calls: new Map(), issues: [] };
  for (const { events } of stages) for (const one of events) {
    if (one.kind === "TextDelta") answer.text += one.text;
    else if (one.kind === "ReasoningDelta") answer.reasoning += one.text;
    else if (one.kind === "CallStarted") answer.calls.set(one.index, { name: one.name, json: "", ended: "" });
    else if (one.kind === "CallDelta") answer.calls.get(one.index).json += one.json;
    else if (one.kind === "CallEnded") answer.calls.get(one.index).ended = one.report?.verdict ?? "ended";
    else if (one.kind === "IssueReported") answer.issues.push(one.issue);
    else if (one.kind === "Reclassified" && one.answer) answer.reasoning = "";
    else if (one.kind === "Reclassified") { answer.reasoning = answer.text + answer.reasoning; answer.text = ""; answer.calls.clear(); }
  }
  return answer;
}

function decided(answer) {
  const calls = [...answer.calls.values()];
  if (!answer.text && !answer.reasoning && !calls.length && !answer.issues.length) return h("p", { class: "quiet" }, "Nothing.");
  return [
    answer.reasoning ? [h("b", {}, "reasoning"), capped(answer.reasoning, 1500)] : null,
    answer.text ? [h("b", {}, "text"), capped(answer.text, 1500)] : null,
    calls.map((call) => h("div", { class: "call" }, h("b", {}, "→ ", h("code", {}, call.name)), h("span", { class: "quiet" }, call.ended || "still open"), capped(call.json, 1500))),
    answer.issues.map((issue) => h("p", { class: "issue" }, h("b", {}, issue.kind), ` ${issue.message}`)),
  ];
}

