// The lobby: every table, live.

import { el, fill, text } from "./dom.js";
import { age, clock, money, plural } from "./format.js";
import { Panel } from "./panel.js";
import { Stream } from "./stream.js";
import { TableCard, outcome } from "./table.js";

const MANY = 6; // tables from which on they are drawn smaller
const TICK_MS = 200;

const lobby = document.getElementById("tables");
const page = document.documentElement;
const cards = new Map();
const panel = new Panel(document.getElementById("panel"), left);
const order = new Intl.Collator("en", { numeric: true });
const pending = new Set();
let all = true;
let called = false;
let wanted = named();

const stream = new Stream((table_id) => {
  if (table_id === null) all = true;
  else pending.add(table_id);
  if (!called) requestAnimationFrame(tick);
  called = true;
});

// What the address names; a hash that is no proper text is taken as it is written.
function named() {
  const hash = location.hash.slice(1);
  try {
    return decodeURIComponent(hash);
  } catch {
    return hash;
  }
}

// A panel is a place of its own in the history, so that Back closes it.
function open(table_id) {
  history.pushState({ opened: true }, "", `#${encodeURIComponent(table_id)}`);
  wanted = table_id;
  follow();
}

// The reader closed the panel: back to where it was opened, or, where the page began with it, to the page without it.
function left() {
  wanted = "";
  if (history.state?.opened) history.back();
  else history.replaceState(null, "", location.pathname + location.search);
}

// The panel is that of the table in the address. That there is no such table is known once the tables are.
function follow() {
  const known = stream.tables.has(wanted);
  if (!wanted || (wanted === lobby.id && !known)) {
    if (panel.table_id !== null) panel.close();
  } else if (panel.table_id !== wanted && (known || stream.epoch)) panel.open(wanted, stream.tables.get(wanted));
}

// Back, Forward, and an address changed by hand.
addEventListener("popstate", () => {
  wanted = named();
  follow();
});

// Tables come and go with snapshots only; they keep their places in the order of their names.
function arrange() {
  const known = [...stream.tables.keys()].sort(order.compare);
  for (const [table_id, card] of cards) {
    if (!stream.tables.has(table_id)) {
      card.root.remove();
      cards.delete(table_id);
    }
  }
  known.forEach((table_id, place) => {
    if (!cards.has(table_id)) cards.set(table_id, new TableCard(table_id, open));
    const { root } = cards.get(table_id);
    if (lobby.children[place] !== root) lobby.insertBefore(root, lobby.children[place] ?? null);
  });
  lobby.classList.toggle("many", known.length > MANY);
  document.getElementById("empty").hidden = known.length > 0;
}

function draw() {
  if (all || [...pending].some((table_id) => !cards.has(table_id))) arrange();
  const changed = all ? [...stream.tables.keys()] : [...pending];
  for (const table_id of changed) {
    const card = cards.get(table_id);
    const before = card.view;
    card.facts(stream.tables.get(table_id));
    announce(table_id, before, card.view);
  }
  if (all || pending.has(panel.table_id)) panel.update(stream.tables.get(panel.table_id));
  all = false;
  pending.clear();
}

// Read out: a suspension anywhere, and results at the table whose panel is open.
function announce(table_id, before, view) {
  if (!before) return;
  const said = document.getElementById("said");
  if (view.suspended && !before.suspended) text(said, `Table ${table_id} is suspended.`);
  const ended = view.last && (!before.last || before.last.round_no !== view.last.round_no);
  if (ended && panel.table_id === table_id) text(said, `Round ${view.last.round_no}: ${outcome(view.last)}.`);
}

function summary() {
  const states = [...cards.values()].map((card) => card.root.dataset.state);
  const house = new Map();
  for (const { settlements } of stream.tables.values()) {
    if (!settlements?.view.currency) continue;
    const { currency, exponent, total } = settlements.view;
    house.set(currency, { exponent, minor: (house.get(currency)?.minor ?? 0) + total.house_win_minor });
  }
  const count = (state) => states.filter((each) => each === state).length;
  const facts = [
    ["Tables", String(states.length), ""],
    ["Betting", String(count("betting")), "betting"],
    ["Dealing", String(count("dealing")), "dealing"],
    ["Suspended", String(count("suspended")), count("suspended") ? "alert" : ""],
    ["House", [...house].map(([currency, { exponent, minor }]) => money(minor, currency, exponent, { signed: true })).join("  ") || "–", "takings"],
  ];
  fill(document.getElementById("summary"), facts, () => el("div", "", el("dt"), el("dd")), (pair, [label, value, kind]) => {
    pair.className = kind;
    text(pair.children[0], label);
    text(pair.children[1], value);
  });
}

function connection() {
  const { link } = stream;
  const trouble = document.getElementById("trouble");
  const state = !link.open ? (link.lost || stream.tables.size ? "lost" : "waiting") : link.problem ? "lost" : "open";
  page.dataset.connection = state;
  page.dataset.resyncs = stream.resyncs;
  text(document.getElementById("link-text"), state === "open" ? clock(stream.now()) : state === "lost" ? "No data" : "Connecting");
  const why = link.problem ? `Nothing new can be shown: ${link.problem}.` : link.lost ? `No connection to the server for ${age(Date.now() - link.lost)}.` : "";
  trouble.hidden = state !== "lost";
  if (state === "lost") text(trouble, `${why} ${stream.tables.size ? "What is shown is what was last known, and may be wrong by now." : ""} Trying again by itself.`);
  text(document.getElementById("empty"), state === "open" ? "Waiting for the first table." : state === "lost" ? "No table is known yet." : "Connecting to the tables.");
}

function tick() {
  called = false;
  draw();
  for (const card of cards.values()) card.tick(stream.link);
  summary();
  connection();
  document.title = `${cards.size ? `${plural(cards.size, "table")} · ` : ""}Punto Banco`;
  follow();
}

setInterval(tick, TICK_MS);
tick();
