// The panel of rules that hangs at a table, with its pay table, its limits, and the rounds of the shoe.

import { el } from "./dom.js";
import { LETTERS, WINNERS, clock, money, plural, title, words } from "./format.js";

const SHOWN_ROUNDS = 12;

export class Panel {
  // `left` is called when the reader closes the panel, and not when the page does.
  constructor(dialog, left) {
    this.dialog = dialog;
    this.table_id = null;
    this.stands = "";
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog) dialog.close();
    });
    dialog.addEventListener("close", () => {
      if (this.table_id === null || dialog.open) return;
      this.table_id = null;
      left();
    });
  }

  open(table_id, table) {
    this.table_id = table_id;
    this.stands = "";
    this.update(table);
    if (!this.dialog.open) this.dialog.showModal();
  }

  close() {
    this.table_id = null;
    this.dialog.close();
  }

  // Drawn again only when something in it changed, so that a reader keeps his place.
  update(table) {
    if (!this.table_id) return;
    const view = table?.rounds?.view;
    const money_view = table?.settlements?.view;
    const stands = JSON.stringify([Boolean(table), view?.panel, view?.past, view?.suspended, view?.irregularity, view?.next_version, money_view?.settled?.length, money_view?.suspended_books, money_view?.total]);
    if (stands === this.stands) return;
    this.stands = stands;
    const heading = el("h2", "", this.table_id);
    heading.id = "panel-title";
    const close = el("button", "close", "Close");
    close.type = "button";
    close.addEventListener("click", () => this.dialog.close());
    const rules = view?.panel;
    if (!table) {
      this.dialog.replaceChildren(el("header", "", el("div", "", heading, el("p", "", "There is no such table.")), close));
      return;
    }
    this.dialog.replaceChildren(
      el("header", "", el("div", "", heading, el("p", "", rules ? `${rules.title} · rules version ${rules.version}` : "Not configured")), close),
      el("div", "sheet", ...this.notices(view, money_view), ...(rules ? [this.offers(rules), this.rules(rules)] : []), this.rounds(view, money_view), this.sums(money_view)),
    );
  }

  notices(view, money_view) {
    const found = [];
    if (view?.suspended) found.push(el("p", "notice", `Suspended since ${clock(view.suspended.at_ms)}: ${title(view.suspended.cause)}. ${view.suspended.text}`));
    for (const book of money_view?.suspended_books ?? []) found.push(el("p", "notice", `The book of shoe ${book.shoe_no}, round ${book.round_no} is suspended: ${words(book.cause)}. ${book.text}`));
    if (view?.next_version && view.next_version !== view.panel?.version) found.push(el("p", "notice mild", `Version ${view.next_version} of the rules comes into force with the next round.`));
    if (view?.irregularity) found.push(el("p", "notice mild", `${plural(view.irregularities, "irregularity").replace("irregularitys", "irregularities")} so far; the last at ${clock(view.irregularity.at_ms)}: ${words(view.irregularity.code)}. ${view.irregularity.text}`));
    return found;
  }

  offers(rules) {
    const limit = (minor) => money(minor, rules.currency, rules.exponent);
    const rows = rules.offers.map((offer) =>
      el("tr", "", rowHead(offer.title), el("td", "", ...offer.pays.map((line) => el("div", "", line))), el("td", "number", `${limit(offer.min_minor)} to ${limit(offer.max_minor)}`, ...offer.bounds.map((bound) => el("div", "bound", bound)))),
    );
    return el("section", "wide", el("h3", "", "What each bet pays"), grid(["Bet", "Pays", "Limits"], rows));
  }

  rules(rules) {
    const facts = [["Shoe", `${plural(rules.decks, "deck")}, ${(rules.decks * 52).toLocaleString("en")} cards`], ["Currency", rules.currency], ...rules.rules];
    return el("section", "", el("h3", "", "How it is dealt"), el("dl", "", ...facts.flatMap(([head, sentence]) => [el("dt", "", head), el("dd", "", sentence)])));
  }

  rounds(view, money_view) {
    const house = new Map((money_view?.settled ?? []).filter((one) => one[0] === view?.shoe_no).map((one) => [one[1], one]));
    const rows = (view?.past ?? []).slice(-SHOWN_ROUNDS).reverse().map(([round_no, winner, player, banker, marks]) => {
      const kind = marks.includes("v") ? "void" : LETTERS[winner];
      const notes = [["n", "natural"], ["p", "Player pair"], ["b", "Banker pair"], ["f", "free hand"], ["r", "revised"], ["v", "void"]].filter(([flag]) => marks.includes(flag)).map(([, note]) => note);
      const settled = house.get(round_no);
      const won = settled && !settled[8] ? money(settled[7], money_view.currency, money_view.exponent, { signed: true }) : "–";
      return el("tr", "", rowHead(String(round_no)), el("td", `winner ${kind}`, kind === "void" ? "Void" : WINNERS[kind]), el("td", "number", winner ? `${player} – ${banker}` : "–"), el("td", "", notes.join(", ")), el("td", "number", won));
    });
    if (!rows.length) return el("section", "", el("h3", "", "Rounds of this shoe"), el("p", "", "None yet."));
    return el("section", "", el("h3", "", "Last rounds of this shoe"), grid(["Round", "Winner", "P – B", "", "House"], rows));
  }

  sums(view) {
    if (!view) return "";
    const amount = (minor, signed = false) => money(minor, view.currency, view.exponent, { signed });
    const row = (label, sums) => el("tr", "", rowHead(label), ...[plural(sums.rounds, "round"), amount(sums.stakes_minor), amount(sums.returns_minor), amount(sums.commission_minor), amount(sums.house_win_minor, true)].map((words) => el("td", "number", words)));
    return el("section", "wide", el("h3", "", "The house"), grid(["", "Settled", "Stakes", "Returns", "Commission", "Result"], [row("This shoe", view.shoe), row("In all", view.total)]), el("p", "small", `${plural(view.rejected, "bet")} rejected in all. The result includes commission; void rounds add nothing.`));
  }
}

function rowHead(words) {
  const head = el("th", "", words);
  head.scope = "row";
  return head;
}

function grid(heads, rows) {
  const numbers = rows.length ? [...rows[0].children].map((cell) => cell.classList.contains("number")) : [];
  const head = el("tr", "", ...heads.map((words, place) => Object.assign(el("th", numbers[place] ? "number" : "", words), { scope: "col" })));
  return el("div", "scroll", el("table", "", el("thead", "", head), el("tbody", "", ...rows)));
}
