// Ask again: the client's request once more by the gateway's own route, both answers side by side.

import { ask } from "./api.js";
import { fill, h, plural, seconds } from "./dom.js";
import { answered, wrote } from "./story.js";
import { exchange } from "./text.js";

export class Again {
  constructor(whole, list) {
    this.whole = whole;
    this.list = list;
    this.number = 0;
    this.version = -1;
    this.old = h("div", {}, side(whole));
    this.fresh = h("div", {}, h("p", { class: "quiet" }, "Not asked again yet: the new answer will stand here."));
    this.error = h("p", { class: "failure", hidden: true });
    this.button = h("button", { type: "button", class: "main", onclick: () => this.ask() }, "Ask again");
    this.before = [...list.rows.values()].filter((row) => row.again === whole.row.number).map((row) => row.number);
    this.choice = h("select", { "aria-label": "Which repetition", hidden: true, onchange: (event) => this.show(Number(event.target.value)) });
    this.element = h("div", {},
      h("p", { class: "quiet" }, "The client's request is sent once more through this gateway, to a real model: that may cost. The answer is recorded as an exchange of its own."),
      h("p", { class: "buttons" }, this.button, this.choice), this.error, h("div", { class: "twice" }, this.old, this.fresh));
    if (this.before.length) this.show(Math.max(...this.before));
  }

  async ask() {
    this.error.hidden = true;
    this.button.disabled = true;
    try {
      this.after = (await ask(`exchanges/${this.whole.row.number}/again`, { method: "POST", body: {} })).after;
      fill(this.fresh, h("p", { class: "quiet" }, "It is asked …"));
      this.number = 0;
      this.take();
    } catch (error) {
      this.error.textContent = error.message;
      this.error.hidden = false;
    }
    this.button.disabled = false;
  }

  show(number) {
    this.number = number;
    this.version = -1;
    this.take();
  }

  // Something has changed in the list: is it ours?
  async take() {
    const made = [...this.list.rows.values()].filter((row) => row.again === this.whole.row.number).map((row) => row.number).sort((a, b) => b - a);
    if (!this.number && this.after !== undefined) this.number = made.find((number) => number > this.after) ?? 0;
    fill(this.choice, made.map((number) => h("option", { value: number }, `#${number}`)));
    this.choice.hidden = made.length < 2;
    const row = this.list.rows.get(this.number);
    if (!row || row.version === this.version) return;
    this.choice.value = String(this.number);
    this.version = row.version;
    fill(this.fresh, side(await exchange(this.number)));
  }
}

function side(whole) {
  const { row, answer, steps } = whole;
  const last = steps.filter((step) => step.wrote).at(-1);
  return [
    h("h3", {}, h("a", { href: `#${row.number}` }, `#${row.number}`), ` ${row.live ? "runs" : row.outcome ?? ""} · ${seconds(row.seconds)} · ${plural(row.attempts ?? 0, "asking")}`),
    row.error ? h("p", { class: "failure" }, row.error) : null,
    last ? wrote(last.wrote) : null,
    h("p", { class: "label" }, h("b", {}, "The client was told")),
    answer.response ? answered(answer.response) : h("p", { class: "quiet" }, "Nothing yet."),
  ];
}
