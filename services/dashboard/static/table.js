// One table of the lobby, built once and changed where its facts change.

import { cardElement, name } from "./cards.js";
import { attribute, el, fill, text } from "./dom.js";
import { LETTERS, WINNERS, age, money, plural, title, words } from "./format.js";
import { health } from "./model.js";

const SVG = "http://www.w3.org/2000/svg";
const ROWS = 6;
const CELEBRATED_MS = 7000; // how long a result outshines the countdown of the next round
const RING = 2 * Math.PI * 27;

// The round whose cards lie on the felt: the running one from its first card, else the last of this shoe.
export function shown(view) {
  const round = view.round;
  if (round && (round.player.length || round.banker.length)) {
    return { ...round, shoe_no: view.shoe_no, player: round.player.map((dealt) => dealt[1]), banker: round.banker.map((dealt) => dealt[1]), over: false };
  }
  if (view.last && view.last.shoe_no === view.shoe_no) return { ...view.last, over: true };
  return null;
}

export function outcome(result) {
  if (!result.winner) return "Round void";
  return result.winner === "tie" ? "Tie" : `${WINNERS[result.winner]} wins`;
}

// Who is waited for: the first four cards go round, a third card is drawn.
function next(round) {
  if (!round.next_hand) return "";
  const hand = WINNERS[round.next_hand];
  return round.player.length + round.banker.length < 4 ? `${hand}\u2019s card` : `${hand} draws`;
}

// What an empty felt waits for.
function waiting(view) {
  switch (view.phase) {
    case "burning": return ["New shoe", view.burn_left ? `${view.burned} burned, ${view.burn_left} to go` : view.burned ? `${plural(view.burned, "card")} burned` : ""];
    case "dealing": return ["Cards, please", ""];
    case "shoe_closed": return ["Shuffling", ""];
    case "ready": return ["No shoe yet", ""];
    default: return ["", ""];
  }
}

// A state for the colour, and words for the eye: what happens at the table now.
export function status(view, remaining) {
  if (view.suspended) return ["suspended", "Suspended"];
  switch (view.phase) {
    case "not_configured": return ["idle", "Not configured"];
    case "ready": return ["idle", "Waiting for a shoe"];
    case "burning": return ["burning", view.burn_left ? `Burning, ${view.burn_left} to go` : "New shoe"];
    case "betting": return remaining === null || remaining > 0 ? ["betting", "Place your bets"] : ["dealing", "No more bets"];
    case "dealing": return ["dealing", view.round && view.round.player.length ? "Dealing" : "No more bets"];
    case "decided": return ["decided", outcome(view.last)];
    case "voided": return ["idle", "Round void"];
    case "shoe_closed": return ["burning", "Shoe closed, shuffling"];
    default: return ["idle", words(view.phase)];
  }
}

export class TableCard {
  constructor(table_id, open) {
    this.table_id = table_id;
    this.dealt = { player: "", banker: "" };
    this.root = el("article", "table");
    this.root.dataset.table = table_id;
    this.build(open);
  }

  build(open) {
    const label = `table-${CSS.escape(this.table_id)}`;
    this.name = el("button", "name", this.table_id);
    this.name.type = "button";
    this.name.id = label;
    attribute(this.name, "aria-haspopup", "dialog");
    this.root.setAttribute("aria-labelledby", label);
    this.variant = el("span", "variant");
    this.pill = el("span", "pill");
    this.place = el("span", "place");
    this.used = el("span", "used");
    this.cut = el("span", "cut", "Cut card is out");
    const shoe = el("span", "shoe", this.used);
    shoe.setAttribute("aria-hidden", "true");
    this.root.append(
      el("header", "head", el("div", "who", this.name, this.variant), this.pill),
      el("div", "line", this.place, shoe, this.cut, this.pulse()),
      this.felt(),
      (this.fields = el("ul", "fields")),
      el("div", "foot", (this.beads = this.plate()), this.house()),
    );
    this.fields.setAttribute("aria-label", "Bets by field");
    this.root.addEventListener("click", () => open(this.table_id));
  }

  pulse() {
    return (this.health = el("span", "health", el("span", "dot"), (this.health_text = el("span"))));
  }

  felt() {
    this.hands = {};
    for (const side of ["player", "banker"]) {
      const total = el("span", "total");
      const mark = el("span", "mark");
      const cards = el("div", "cards");
      cards.setAttribute("role", "img");
      const hand = el("section", `hand ${side}`, el("h3", "", el("span", "side", WINNERS[side]), total, mark), cards);
      this.hands[side] = { hand, total, mark, cards };
    }
    const ring = document.createElementNS(SVG, "svg");
    ring.setAttribute("viewBox", "0 0 64 64");
    ring.setAttribute("aria-hidden", "true");
    for (const kind of ["track", "left"]) {
      const circle = document.createElementNS(SVG, "circle");
      for (const [key, value] of Object.entries({ cx: 32, cy: 32, r: 27, class: kind })) circle.setAttribute(key, value);
      ring.append(circle);
      this[`ring_${kind}`] = circle;
    }
    this.ring_left.setAttribute("stroke-dasharray", RING);
    this.seconds = el("span", "seconds");
    this.seconds.setAttribute("role", "timer");
    this.countdown = el("div", "countdown", ring, this.seconds);
    this.headline = el("strong", "headline");
    this.caption = el("span", "caption");
    this.middle = el("div", "middle", this.countdown, this.headline, this.caption);
    this.alarm_cause = el("span", "cause");
    this.alarm_text = el("span", "why");
    this.alarm = el("div", "alarm", el("strong", "", "Suspended"), this.alarm_cause, this.alarm_text);
    this.alarm.setAttribute("role", "alert");
    return el("div", "felt", this.hands.player.hand, this.middle, this.hands.banker.hand, this.alarm);
  }

  plate() {
    const plate = el("div", "plate");
    this.plate_dots = el("div", "dots");
    this.plate_dots.setAttribute("aria-hidden", "true");
    this.counts = el("p", "counts");
    this.counts.setAttribute("role", "img");
    plate.append(this.counts, this.plate_dots);
    return plate;
  }

  house() {
    this.sums = {};
    const rows = [["round", "Last round"], ["shoe", "Shoe"], ["total", "In all"]].map(([key, label]) => {
      this.sums[key] = el("dd");
      return el("div", "", (this.sums[`${key}_label`] = el("dt", "", label)), this.sums[key]);
    });
    this.books = el("p", "books");
    return el("div", "house", el("h3", "", "House result"), el("dl", "", ...rows), this.books);
  }

  // All that a fact can change.
  facts(table) {
    const view = table.rounds?.view ?? { phase: "not_configured", past: [], counts: { player: 0, banker: 0, tie: 0 }, cards: 0, at_ms: 0 };
    this.table = table;
    this.view = view;
    text(this.variant, view.panel ? view.panel.title : "");
    this.where(view);
    this.cards(view);
    this.road(view);
    this.bets(table.settlements?.view, view);
    attribute(this.alarm, "hidden", view.suspended ? null : "");
    if (view.suspended) {
      text(this.alarm_cause, title(view.suspended.cause));
      text(this.alarm_text, view.suspended.text);
    }
  }

  where(view) {
    const decks = view.decks ?? view.panel?.decks;
    const parts = [];
    if (view.shoe_no) parts.push(`Shoe ${view.shoe_no}`);
    if (view.round) parts.push(view.round.free ? `Free hand ${view.round.round_no}` : `Round ${view.round.round_no}`);
    else if (view.last && view.last.shoe_no === view.shoe_no) parts.push(`Round ${view.last.round_no}`);
    if (decks) parts.push(`${view.cards} of ${plural(decks * 52, "card")}`);
    text(this.place, parts.join(" · "));
    this.used.style.width = decks ? `${Math.min(100, (100 * view.cards) / (decks * 52))}%` : "0";
    attribute(this.cut, "hidden", view.cut_rounds_left === null || view.cut_rounds_left === undefined ? "" : null);
  }

  cards(view) {
    const lies = shown(view);
    for (const side of ["player", "banker"]) {
      const { hand, total, mark, cards } = this.hands[side];
      const faces = lies ? lies[side] : [];
      const key = lies ? `${lies.shoe_no}/${lies.round_no}` : "";
      this.hand(side, cards, faces, key);
      const sum = lies ? lies[`${side}_total`] : null;
      text(total, faces.length === 0 ? "" : sum === null || sum === undefined ? "?" : String(sum));
      const natural = faces.length === 2 && (sum === 8 || sum === 9) && !faces.includes(null);
      text(mark, natural ? "Natural" : "");
      const won = lies && lies.over ? lies.winner : null;
      hand.classList.toggle("won", won === side);
      hand.classList.toggle("tied", won === "tie");
      hand.classList.toggle("lost", won !== null && won !== undefined && won !== side && won !== "tie");
      attribute(cards, "aria-label", `${WINNERS[side]}: ${faces.length ? faces.map(name).join(", ") : "no card"}${sum === null || sum === undefined || !faces.length ? "" : `, total ${sum}`}`);
    }
    this.lies = lies;
    this.root.dataset.winner = lies?.over ? lies.winner ?? "void" : "";
  }

  // Only a card that is new on the felt is dealt anew, so that the others lie still.
  hand(side, parent, faces, key) {
    if (this.dealt[side] !== key) parent.replaceChildren();
    this.dealt[side] = key;
    fill(parent, faces, () => el("span", "slot"), (slot, face, place) => {
      const card = String(face);
      if (slot.dataset.card === card) return;
      slot.dataset.card = card;
      slot.classList.toggle("third", place === 2);
      slot.replaceChildren(cardElement(face));
    });
  }

  road(view) {
    const columns = Math.ceil(view.past.length / ROWS);
    const room = Math.max(10, Math.floor(((this.plate_dots.clientWidth || 282) - 2) / 15.5));
    const from = Math.max(0, columns - room) * ROWS; // whole columns leave, so that no bead changes its row
    fill(this.plate_dots, view.past.slice(from), () => el("i"), (bead, [round_no, winner, player, banker, marks]) => {
      const kind = marks.includes("v") ? "void" : LETTERS[winner];
      const flags = [..."npbfr"].filter((flag) => marks.includes(flag)).map((flag) => ` has-${flag}`).join("");
      bead.className = `${kind}${flags}`;
      text(bead, winner || "×");
      attribute(bead, "title", kind === "void" ? `Round ${round_no}: void` : `Round ${round_no}: ${WINNERS[kind]}, ${player} to ${banker}`);
    });
    const { player, banker, tie } = view.counts;
    const spans = [["player", `P ${player}`], ["banker", `B ${banker}`], ["tie", `T ${tie}`]];
    fill(this.counts, spans, () => el("span"), (span, [kind, words]) => {
      span.className = kind;
      text(span, words);
    });
    attribute(this.counts, "aria-label", `This shoe: Player ${player}, Banker ${banker}, Tie ${tie}`);
  }

  // The open book's stakes; where none is open, those of the last round and what went back.
  bets(view, rounds) {
    const offers = rounds.panel?.offers ?? [];
    const book = view?.book;
    const last = view?.last;
    const fields = book ? book.fields : last ? last.fields : offers.map((offer) => ({ bet: offer.bet, count: 0, stakes_minor: 0 }));
    const titles = new Map(offers.map((offer) => [offer.bet, offer.title]));
    const most = Math.max(1, ...fields.map((field) => field.stakes_minor));
    fill(this.fields, fields, () => el("li", "", el("span", "bet", el("span", "full"), el("span", "brief")), el("span", "count"), el("span", "stakes"), el("span", "bar")), (item, field) => {
      const [bet, count, stakes, bar] = item.children;
      item.className = `field ${field.bet.replace(/[^a-z0-9]/gi, "-")}${field.count ? "" : " none"}`;
      const named = titles.get(field.bet) ?? title(field.bet);
      text(bet.children[0], named);
      text(bet.children[1], named.replace(/^Player (?=.)/, "P ").replace(/^Banker (?=.)/, "B "));
      text(stakes, money(field.stakes_minor, view?.currency ?? "", view?.exponent ?? 0));
      text(count, field.count ? `×${field.count.toLocaleString("en")}` : "");
      item.classList.toggle("paid", !book && field.returns_minor > field.stakes_minor);
      attribute(item, "title", field.count ? plural(field.count, "bet") : null);
      bar.style.width = `${(100 * field.stakes_minor) / most}%`;
    });
    this.result(view);
    const suspended = view?.suspended_books ?? [];
    const refused = book?.rejected ?? 0;
    text(this.books, suspended.length ? `Book of round ${suspended[0].round_no} suspended: ${words(suspended[0].cause)}` : refused ? `${plural(refused, "bet")} rejected this round` : "");
    this.books.classList.toggle("alert", suspended.length > 0);
  }

  result(view) {
    const show = (key, minor) => {
      text(this.sums[key], view && minor !== null ? money(minor, view.currency, view.exponent, { signed: true }) : "–");
      this.sums[key].className = minor > 0 ? "plus" : minor < 0 ? "minus" : "";
    };
    const last = view?.last;
    text(this.sums.round_label, last ? `Round ${last.round_no}` : "Last round");
    show("round", last && !last.void ? last.house_win_minor : null);
    show("shoe", view ? view.shoe.house_win_minor : null);
    show("total", view ? view.total.house_win_minor : null);
  }

  // What changes by the clock alone. Without a connection there is no clock, and so no countdown.
  tick(link) {
    const now = performance.now();
    const { state, old } = health(this.table, link, now);
    const server = state === "stale" ? null : now + link.offset;
    this.root.dataset.health = state;
    const told = { live: `live · ${age(old)}`, quiet: `quiet · nothing new for ${age(old)}`, stale: `stale · last heard ${age(old)} ago` };
    text(this.health_text, told[state]);
    this.clock(this.view, server);
  }

  clock(view, server) {
    const round = view.round;
    const betting = view.phase === "betting" && round && !view.suspended;
    const remaining = betting && server !== null ? Math.max(0, round.closes_at_ms - server) : null;
    const [state, words] = status(view, betting ? remaining : 0);
    this.root.dataset.state = state;
    text(this.pill, words);
    const fresh = this.lies?.over && server !== null && server - this.lies.at_ms < CELEBRATED_MS;
    this.root.classList.toggle("fresh", Boolean(fresh));
    attribute(this.countdown, "hidden", betting ? null : "");
    if (betting) {
      const window = Math.max(1, round.closes_at_ms - round.opened_at_ms);
      text(this.seconds, remaining === null ? "–" : String(Math.ceil(remaining / 1000)));
      this.ring_left.setAttribute("stroke-dashoffset", remaining === null ? RING : RING * (1 - Math.min(1, remaining / window)));
      this.countdown.classList.toggle("last", remaining !== null && remaining <= 5000);
    }
    this.result_line(view, betting);
  }

  result_line(view, betting) {
    const lies = this.lies;
    if (lies?.over) {
      const totals = lies.winner ? ` ${Math.max(lies.player_total, lies.banker_total)}–${Math.min(lies.player_total, lies.banker_total)}` : "";
      text(this.headline, outcome(lies));
      const notes = [`Round ${lies.round_no}`, lies.winner ? (lies.revision ? "revised" : "") : words(lies.reason)];
      text(this.caption, `${totals.trim()}${totals ? " · " : ""}${notes.filter(Boolean).join(" · ")}`);
      return;
    }
    const [headline, caption] = lies ? [next(lies), lies.free ? "free hand, no bets" : ""] : betting ? ["", ""] : waiting(view);
    text(this.headline, headline);
    text(this.caption, caption);
  }
}
