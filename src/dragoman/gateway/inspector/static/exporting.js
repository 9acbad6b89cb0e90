// Export: one exchange as a line of our tests' vectors, or as a command.

import { ask } from "./api.js";
import { capped, copyButton, fill, h } from "./dom.js";

export function exporting(whole, about) {
  const steps = whole.steps.filter((step) => step.kind === "attempt" && step.hop !== null);
  const last = steps.filter((step) => step.wrote).at(-1) ?? steps.at(-1);
  const hop = h("select", {}, steps.map((step, at) => h("option", { value: step.hop }, `${at + 1}: ${step.place}${step.reask ? ` (re-ask ${step.reask})` : ""}`)));
  if (last) hop.value = String(last.hop);
  const dialect = h("select", {}, h("option", { value: "" }, "the one it wrote"), about.dialects.map((name) => h("option", { value: name }, name)));
  const boxes = h("div", {});
  const show = () => {
    const at = hop.value === "" ? "" : `hop=${hop.value}`;
    fill(boxes,
      box("A test vector of the dialect", "What the model wrote and what the parser makes of it today; change what it should be.", whole, `dialect?${at}&dialect=${dialect.value}`, "jsonl"),
      box("A test vector of the wire", "The provider's answer as recorded, and what the codec makes of it.", whole, `wire?${at}`, "jsonl"),
      box("The client's request as a command", "Its key is read from DRAGOMAN_KEY.", whole, "curl", "sh"),
      at ? box("The request to the provider as a command", "As it was sent, without this gateway; its key is read from DRAGOMAN_KEY.", whole, `curl?${at}`, "sh") : null);
  };
  hop.addEventListener("change", show);
  dialect.addEventListener("change", show);
  show();
  return [h("form", { class: "controls" }, h("label", {}, h("span", {}, "Step"), hop), h("label", {}, h("span", {}, "Dialect"), dialect)), boxes];
}

function box(title, says, whole, path, ending) {
  const out = h("div", {}, h("p", { class: "quiet" }, "…"));
  ask(`exchanges/${whole.row.number}/export/${path}`).then(({ text, file }) => {
    const link = h("button", { type: "button", onclick: () => save(`${text}\n`, `exchange-${whole.row.number}.${ending}`) }, "Download");
    fill(out, file ? h("p", { class: "quiet" }, "for ", h("code", {}, file)) : null, capped(text, 3000, { class: "text exported" }), h("p", { class: "buttons" }, copyButton(() => text), link));
  }, (error) => fill(out, h("p", { class: "quiet" }, error.message)));
  return h("section", { class: "part" }, h("h3", {}, title), h("p", { class: "quiet" }, says), out);
}

function save(text, name) {
  const url = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
