// Habits: ways of writing calls that models have confirmed; shown, and forgotten.

import { ask } from "./api.js";
import { byId, fill, h } from "./dom.js";

const NAMES = { owner: "key", place: "at", model: "model" };

export async function habits() {
  const dialog = byId("remembered");
  await show(dialog);
  if (!dialog.open) dialog.showModal();
}

async function show(dialog) {
  try {
    fill(dialog, drawn((await ask("habits")).habits, dialog));
  } catch (error) {
    fill(dialog, h("form", { method: "dialog" }, h("p", { class: "failure" }, error.message), close()));
  }
}

function drawn(known, dialog) {
  return h("form", { method: "dialog" }, h("h2", {}, "Habits"),
    h("p", {}, "A model that was asked about a call in doubt, and made it, means what it writes in this way: the next such call runs unasked."),
    known.length ? h("ul", { class: "habits" }, known.map((habit) => row(habit, dialog))) : h("p", { class: "quiet" }, "Nothing is remembered."),
    close());
}

function row(habit, dialog) {
  const { words, ...fields } = habit;
  const forget = async () => {
    await ask(`habits?${new URLSearchParams(fields)}`, { method: "DELETE" });
    await show(dialog);
  };
  return h("li", {}, h("span", { class: "way", title: habit.habit }, words),
    Object.entries(NAMES).filter(([name]) => habit[name]).map(([name, says]) => h("span", { class: "quiet" }, `${says} ${habit[name]}`)),
    h("button", { type: "button", class: "forget", onclick: forget }, "Forget"));
}

const close = () => h("p", { class: "buttons" }, h("button", { class: "main" }, "Close"));
