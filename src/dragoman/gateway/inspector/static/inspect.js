// The page: the list kept current, one exchange shown, keys.

import { Again } from "./again.js";
import { ask } from "./api.js";
import { byId, bytes, chip, clock, count, facts, fill, h, seconds } from "./dom.js";
import { exporting } from "./exporting.js";
import { habits } from "./habits.js";
import { judge } from "./judge.js";
import { List } from "./list.js";
import { story } from "./story.js";
import { exchange, named } from "./text.js";
import { events, wires } from "./wires.js";

const TABS = [["story", "Story"], ["events", "Events"], ["wires", "Wires"], ["judge", "Judge again"], ["again", "Ask again"], ["export", "Export"]];
const FRESH = new Set(["story", "events", "wires"]); // tabs that are drawn anew when something happens
const KEYS = [["j k ↓ ↑", "the next, the one before"], ["Enter", "into the exchange"], ["Esc", "back to the list"], ["1 – 6", "its tabs"], ["/", "search"], ["g G", "the newest, the oldest"], ["?", "this"]];

const state = { tab: "story", number: 0, shown: -1, whole: null, again: null, about: null, process: 0 };
const list = new List((number, focus) => open(number, focus));
const detail = byId("detail");

// ── one exchange ────────────────────────────────────────────────────────────

function open(number, focus = false) {
  if (number !== state.number) Object.assign(state, { number, shown: -1, whole: null, again: null });
  const hash = `#${number}${state.tab === "story" ? "" : `/${state.tab}`}`;
  if (location.hash !== hash) history.replaceState(null, "", hash);
  document.body.classList.toggle("reading", number > 0 && (focus || document.body.classList.contains("reading")));
  load();
}

let loading = false, due = 0;
async function load() {
  if (loading) { due = 1; return; }
  const { number } = state, row = list.rows.get(number);
  if (!number || (row && row.version === state.shown)) return;
  loading = true;
  const begun = performance.now();
  try {
    const whole = await exchange(number);
    if (number === state.number) {
      const first = state.whole === null;
      state.whole = whole;
      state.shown = whole.row.version;
      draw(first);
    }
  } catch (error) {
    if (number === state.number) fill(detail, h("p", { class: "failure" }, error.message));
  }
  loading = false;
  const rest = list.rows.get(state.number)?.live ? Math.max(400, 4 * (performance.now() - begun)) : 0; // what is long is read anew less often
  if (due || number !== state.number) { due = 0; setTimeout(load, rest); }
}

function draw(first) {
  const whole = state.whole;
  if (first) {
    const body = h("div", { class: "body", role: "tabpanel", id: "panel" });
    fill(detail, h("header", { class: "head" }), tabs(), body);
  }
  fill(detail.querySelector(".head"), head(whole));
  if (first || FRESH.has(state.tab)) panel(first);
}

function head({ row, client }) {
  const state = row.live ? chip("live") : chip(`${row.status} ${row.outcome ?? ""}`, row.marks.includes("failed") || row.marks.includes("client_closed") ? "failed" : "plain");
  return [
    h("div", { class: "title" }, h("button", { type: "button", class: "back", onclick: back }, "‹ list"), h("h2", {}, `#${row.number} ${row.model ?? client.path}`), state,
      row.marks.filter((mark) => !["calls", "failed", "client_closed"].includes(mark)).map((mark) => chip(mark === "reasked" ? `re-asked ${row.reasks}×` : mark, mark))),
    facts([["route", row.route], ["asked in", row.front], ["key", row.key], ["at", clock(row.at)], ["took", seconds(row.seconds)], ["first bytes", row.first === null || row.first === undefined ? "" : seconds(row.first)],
      ["tokens", row.tokens ? `${count(row.tokens[0])} → ${count(row.tokens[1])}` : ""], ["streamed", row.stream ? "yes" : "no"], ["id", row.request_id],
      ["session", row.session ? h("button", { type: "button", class: "more", onclick: () => list.within(row.session) }, row.session.slice(0, 6)) : ""], ["repeats", row.again ? h("a", { href: `#${row.again}` }, `#${row.again}`) : ""]]),
  ];
}

function tabs() {
  return h("nav", { class: "tabs", role: "tablist" }, TABS.map(([name, says], at) =>
    h("button", { type: "button", role: "tab", data: { tab: name }, "aria-controls": "panel", title: `${says} (${at + 1})`, onclick: () => choose(name) }, says)));
}

function choose(name) {
  state.tab = name;
  if (!state.whole) return;
  history.replaceState(null, "", `#${state.number}${name === "story" ? "" : `/${name}`}`);
  panel(true);
}

function panel(first) {
  const body = detail.querySelector(".body"), whole = state.whole;
  for (const button of detail.querySelectorAll("[role=tab]")) button.setAttribute("aria-selected", String(button.dataset.tab === state.tab));
  const opened = first ? [] : [...body.querySelectorAll("details[open] > summary")].map((summary) => summary.textContent);
  const top = detail.scrollTop;
  state.again = null;
  const bare = whole.row.content === false && state.tab !== "story";
  const made = bare ? [h("p", { class: "quiet" }, "What was said was not recorded: there are no bytes and no text to show, to judge or to send again.")] : {
    story: () => story(whole), events: () => events(whole), wires: () => wires(whole), judge: () => judge(whole, state.about),
    again: () => { state.again = new Again(whole, list); return [state.again.element]; }, export: () => exporting(whole, state.about),
  }[state.tab]();
  fill(body, h("div", { class: `tab-${state.tab}` }, made));
  for (const summary of body.querySelectorAll("summary")) if (opened.includes(summary.textContent)) summary.parentElement.open = true;
  detail.scrollTop = first ? 0 : top;
}

function back() {
  document.body.classList.remove("reading");
  byId("list").focus();
}

// ── what happens ────────────────────────────────────────────────────────────

async function follow() {
  let version = 0, changes = 0;
  for (;;) {
    try {
      state.about ??= await ask("about");
      named(state.about.kinds);
      if (state.about.stored) {
        const begun = performance.now();
        await stored();
        await pause(Math.max(document.hidden ? 10000 : 1500, 10 * (performance.now() - begun))); // words in many recordings take a while
        continue;
      }
      const news = await ask(`exchanges?since=${version}&wait=${document.hidden ? 0 : 2}`);
      if (state.process && news.process !== state.process) {
        changes += 1;
        version = 0;
        list.clear();
        warn(changes > 2 ? "Several processes answer at this address, and each keeps its own exchanges. Run one: [server] workers = 1." : "The gateway was started anew; what it kept before is gone.");
        state.process = news.process;
        continue;
      }
      state.process = news.process;
      version = news.version;
      if (news.rows.length || news.numbers[0] !== state.first) list.take(news.rows, news.numbers[0]);
      state.first = news.numbers[0];
      alive(news);
      if (news.rows.some((row) => row.number === state.number)) load();
      state.again?.take();
      await pause(document.hidden ? 3000 : 150);
    } catch (error) {
      byId("live").textContent = error.status ? error.message : "the gateway does not answer; trying again …";
      byId("live").className = "live is-lost";
      await pause(2000);
    }
  }
}

// All processes and machines write into one store: any of them answers, and tells no versions.
async function stored() {
  list.stored = true;
  byId("clear").hidden = true;
  await list.refresh();
  byId("live").textContent = state.about.content ? "recorded" : "recorded, without content";
  byId("live").title = "exchanges of every process and machine that records into this store, once they are over";
  byId("live").className = "live";
  if (state.number && state.shown < 0) load();
  state.again?.take();
}

function alive(news) {
  byId("live").textContent = `live · ${bytes(news.bytes)} kept${news.dropped ? `, ${count(news.dropped)} older dropped` : ""}`;
  byId("live").title = `process ${news.process}; at most ${count(state.about.most)} exchanges and ${bytes(state.about.most_bytes)} are kept, in memory`;
  byId("live").className = "live";
}

const pause = (time) => new Promise((resolve) => { setTimeout(resolve, time); });

function warn(says) {
  byId("warning").textContent = says;
  byId("warning").hidden = !says;
}

// ── the bar, the address, keys ──────────────────────────────────────────────

const THEMES = ["auto", "light", "dark"];
function theme(wanted) {
  document.documentElement.dataset.theme = wanted;
  byId("theme").textContent = `Theme: ${wanted}`;
  localStorage.setItem("dragoman-theme", wanted);
}

function route() {
  const [number, tab] = location.hash.slice(1).split("/");
  if (TABS.some(([name]) => name === tab)) state.tab = tab;
  else if (number) state.tab = "story";
  if (Number(number)) {
    document.body.classList.add("reading");
    if (Number(number) === state.number && state.whole) panel(true);
    else list.pick(Number(number), true);
  }
}

function help() {
  fill(byId("keys"), h("form", { method: "dialog" }, h("h2", {}, "Keys"), facts(KEYS.map(([key, says]) => [says, h("kbd", {}, key)])),
    h("p", { class: "buttons" }, h("button", { class: "main" }, "Close"))));
  byId("keys").showModal();
}

const ACTS = {
  j: () => list.move(1), k: () => list.move(-1), ArrowDown: () => list.move(1), ArrowUp: () => list.move(-1),
  g: () => { list.picked = 0; list.move(1); }, G: () => { list.picked = 0; list.move(-1); },
  "/": () => byId("filter").focus(), "?": help, Escape: back,
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const typing = event.target.matches("input, textarea, select");
  if (typing) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const inside = detail.contains(event.target);
  if (inside && event.key.startsWith("Arrow")) return;
  if (event.key === "Enter" && event.target.id === "list" && state.number) {
    document.body.classList.add("reading");
    detail.focus();
  } else if (/^[1-6]$/.test(event.key) && state.whole) choose(TABS[Number(event.key) - 1][0]);
  else if (ACTS[event.key]) ACTS[event.key]();
  else return;
  event.preventDefault();
});

byId("theme").addEventListener("click", () => theme(THEMES[(THEMES.indexOf(document.documentElement.dataset.theme) + 1) % THEMES.length]));
byId("help").addEventListener("click", help);
byId("habits").addEventListener("click", habits);
byId("clear").addEventListener("click", async () => {
  await ask("exchanges", { method: "DELETE" });
  list.clear();
  Object.assign(state, { number: 0, shown: -1, whole: null, again: null });
  history.replaceState(null, "", location.pathname);
  welcome();
});
window.addEventListener("hashchange", route);

function welcome() {
  document.body.classList.remove("reading");
  fill(detail, h("div", { class: "welcome" }, h("h2", {}, "Choose an exchange"),
    h("p", {}, "Each shows what the client asked, what was really sent to the model, what the model wrote, character for character, what was judged of it, and what the client was told."),
    h("p", { class: "quiet" }, "j and k move in the list, / searches, ? shows all keys.")));
}

theme(localStorage.getItem("dragoman-theme") ?? "auto");
welcome();
route();
follow();
