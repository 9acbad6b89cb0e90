// The list of exchanges, newest first: only the rows in sight are elements, so thousands cost nothing.

import { ask } from "./api.js";
import { byId, chip, clock, count, fill, h, plural, seconds } from "./dom.js";

const HEIGHT = 78, BEYOND = 6;
const MARKS = ["calls", "mended", "doubtful", "refused", "reasked", "quoted", "fallback", "failed", "client_closed"];

const SAYS = { reasked: "re-asked", doubtful: "in doubt" };

export class List {
  constructor(onpick) {
    this.rows = new Map();
    this.shown = [];
    this.wanted = new Set();
    this.words = "";
    this.found = new Map();
    this.picked = 0;
    this.session = "";
    this.grouped = false;
    this.groups = [];
    this.stored = false;
    this.asked = null;
    this.more = this.loading = false;
    this.onpick = onpick;
    this.box = byId("list");
    this.space = byId("space");
    this.box.addEventListener("scroll", () => this.paint());
    new ResizeObserver(() => this.paint()).observe(this.box);
    byId("filter").addEventListener("input", (event) => this.search(event.target.value));
    this.buttons = MARKS.map((mark) => h("button", { type: "button", "aria-pressed": "false", class: `mark is-${mark}`, onclick: () => this.toggle(mark) },
      SAYS[mark] ?? mark, h("span", { class: "n" })));
    this.sessions = h("button", { type: "button", id: "sessions", class: "mark is-session", "aria-pressed": "false", onclick: () => this.group() });
    fill(byId("marks"), this.buttons, this.sessions);
  }

  take(rows, first) {
    for (const row of rows) this.rows.set(row.number, row);
    for (const number of this.rows.keys()) if (number < first) this.rows.delete(number);
    if (this.grouped) this.load();
    if (this.words && rows.length) this.ask();
    this.sift();
  }

  clear() {
    this.rows.clear();
    this.sift();
  }

  toggle(mark) {
    this.wanted.has(mark) ? this.wanted.delete(mark) : this.wanted.add(mark);
    this.sift();
    this.again();
  }

  // All exchanges, by their sessions, or those of one.
  group() {
    this.grouped = !this.session && !this.grouped;
    this.session = "";
    this.groups = [];
    if (this.grouped) this.load();
    this.sift();
    this.again();
  }

  within(session) {
    Object.assign(this, { session, grouped: false });
    this.box.scrollTop = 0;
    this.sift();
    this.again();
  }

  async load() {
    const { sessions } = await ask(`sessions?${this.query()}`).catch(() => ({ sessions: [] }));
    this.groups = sessions;
    if (this.grouped) this.sift();
  }

  // ── what is stored: the store sifts, and gives a page at a time ────────────

  query() {
    const asked = { q: this.words, marks: [...this.wanted].join(","), session: this.session };
    return new URLSearchParams(Object.entries(asked).filter(([, value]) => value)).toString();
  }

  again() {
    if (this.stored) this.refresh().catch(() => {});
  }

  async refresh() {
    const asked = this.query();
    if (this.grouped) this.load();
    const page = await ask(`exchanges?${asked}`);
    if (asked !== this.query()) return;
    if (asked !== this.asked) {
      this.rows.clear();
      this.asked = asked;
      this.more = page.more;
    }
    this.add(page.rows);
  }

  async older() {
    if (!this.stored || !this.more || this.loading || this.grouped) return;
    this.loading = true;
    const asked = this.asked, before = Math.min(...this.rows.keys());
    try {
      const page = await ask(`exchanges?${asked}&before=${before}`);
      if (asked === this.asked) {
        this.more = page.more;
        this.add(page.rows);
      }
    } catch { /* the next look says why */ }
    this.loading = false;
  }

  add(rows) {
    for (const row of rows) this.rows.set(row.number, row);
    this.sift();
  }

  search(words) {
    this.words = words.trim();
    this.found.clear();
    this.sift();
    if (this.stored) {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.again(), 200);
    } else if (this.words) this.ask();
  }

  // What stands in bodies only the gateway knows; what stands in a row is found at once.
  ask() {
    clearTimeout(this.timer);
    this.timer = setTimeout(async () => {
      const words = this.words;
      if (!words) return;
      const { numbers } = await ask(`search?q=${encodeURIComponent(words)}`).catch(() => ({ numbers: [] }));
      if (words !== this.words) return;
      this.found = new Map(numbers.map((number) => [number, true]));
      this.sift();
    }, 200);
  }

  sift() {
    const words = this.words.toLowerCase();
    const all = [...this.rows.values()].sort((a, b) => b.number - a.number);
    const said = (row) => this.stored || !words || this.found.has(row.number) || haystack(row).includes(words);
    const found = all.filter((row) => said(row) && (!this.session || row.session === this.session));
    this.shown = found.filter((row) => [...this.wanted].every((mark) => row.marks.includes(mark)));
    this.buttons.forEach((button, at) => {
      button.setAttribute("aria-pressed", String(this.wanted.has(MARKS[at])));
      const number = found.filter((row) => row.marks.includes(MARKS[at])).length;
      button.lastChild.textContent = number ? count(number) : "";
      button.classList.toggle("none", !number);
    });
    this.sessions.textContent = this.session ? `session ${this.session.slice(0, 6)} ✕` : "sessions";
    this.sessions.setAttribute("aria-pressed", String(this.grouped || this.session !== ""));
    if (this.grouped) this.shown = this.groups;
    byId("count").textContent = this.grouped ? plural(this.groups.length, "session")
      : this.stored ? `${plural(this.shown.length, "exchange")}${this.more ? ", and older ones" : ""}`
      : this.shown.length === all.length ? plural(all.length, "exchange") : `${count(this.shown.length)} of ${plural(all.length, "exchange")}`;
    this.space.style.setProperty("height", `${this.shown.length * HEIGHT}px`);
    this.paint();
  }

  paint() {
    const first = Math.max(0, Math.floor(this.box.scrollTop / HEIGHT) - BEYOND);
    const last = Math.min(this.shown.length, Math.ceil((this.box.scrollTop + this.box.clientHeight) / HEIGHT) + BEYOND);
    fill(this.space, this.shown.slice(first, last).map((row, at) => this.grouped ? this.line(row, first + at) : this.row(row, first + at)));
    if (last >= this.shown.length - BEYOND && this.rows.size) this.older();
    if (!this.rows.size) fill(this.space, h("p", { class: "empty" }, "Nothing was asked yet. Point a client at this gateway; what it says appears here as it happens."));
    else if (!this.shown.length) fill(this.space, h("p", { class: "empty" }, "No exchange fits."));
    this.box.setAttribute("aria-activedescendant", this.picked ? `row-${this.picked}` : "");
  }

  row(row, at) {
    const state = row.live ? "live" : row.marks.includes("failed") ? "failed" : row.marks.includes("client_closed") ? "client_closed" : "ok";
    return h("div", {
      class: `exchange is-${state}${row.number === this.picked ? " picked" : ""}`, id: `row-${row.number}`, role: "option",
      "aria-selected": String(row.number === this.picked), vars: { top: `${at * HEIGHT}px` }, onclick: () => this.pick(row.number, true),
    },
    h("div", { class: "line" }, h("span", { class: "dot", title: state }), h("b", {}, row.model || row.path), h("span", { class: "quiet" }, `#${row.number}`), h("time", {}, clock(row.at))),
    h("div", { class: "line said" }, row.error || row.prompt || row.path),
    h("div", { class: "line" },
      row.live ? chip("live") : row.status >= 400 ? chip(String(row.status), "failed") : null,
      row.marks.filter((mark) => !["calls", "failed"].includes(mark)).map((mark) => chip(mark === "reasked" ? `re-asked ${row.reasks}×` : mark, mark)),
      row.calls?.length ? h("span", { class: "calls", title: row.calls.join(", ") }, `→ ${row.calls.join(", ")}`) : null,
      h("span", { class: "quiet end" }, [row.tokens && row.marks.length < 4 ? `${count(row.tokens[0])}→${count(row.tokens[1])} tok` : "", seconds(row.seconds)].filter(Boolean).join(" · "))));
  }

  // A session: how many exchanges, from when to when.
  line(group, at) {
    return h("div", {
      class: "exchange is-ok", role: "option", "aria-selected": "false", data: { session: group.session }, vars: { top: `${at * HEIGHT}px` }, onclick: () => this.within(group.session),
    },
    h("div", { class: "line" }, h("span", { class: "dot" }), h("b", {}, plural(group.count, "exchange")), h("span", { class: "quiet" }, group.session.slice(0, 6)), h("time", {}, clock(group.last))),
    h("div", { class: "line said" }, `from ${new Date(group.first * 1000).toLocaleString([], { hour12: false })}, ${seconds(group.last - group.first)}`),
    h("div", { class: "line" }, group.marks.filter((mark) => mark !== "calls").map((mark) => chip(mark, mark)),
      h("span", { class: "quiet end" }, `${count(group.tokens[0])}→${count(group.tokens[1])} tok`)));
  }

  pick(number, focus = false) {
    this.picked = number;
    const at = this.shown.findIndex((row) => row.number === number);
    if (at >= 0) {
      const top = at * HEIGHT;
      if (top < this.box.scrollTop) this.box.scrollTop = top;
      else if (top + HEIGHT > this.box.scrollTop + this.box.clientHeight) this.box.scrollTop = top + HEIGHT - this.box.clientHeight;
    }
    this.paint();
    this.onpick(number, focus);
  }

  move(by) {
    if (!this.shown.length || this.grouped) return;
    const at = this.shown.findIndex((row) => row.number === this.picked);
    const next = at < 0 ? (by < 0 ? this.shown.length - 1 : 0) : Math.min(this.shown.length - 1, Math.max(0, at + by));
    this.pick(this.shown[next].number);
  }
}

function haystack(row) {
  return [row.model, row.route, row.front, row.prompt, row.answer, row.error, row.key, row.request_id, row.path, String(row.status), ...(row.calls ?? []), ...row.marks].join("\n").toLowerCase();
}
