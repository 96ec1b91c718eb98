// What the page's own modules reckon; evaluated inside the page.
async () => {
  const { money, age } = await import("/static/format.js");
  const { apply, health } = await import("/static/model.js");
  const tables = new Map();
  const delta = (from, to, set) =>
    apply(tables, { table_id: "T1", topic: "rounds", partition: 3, from, to, set });
  const became = [
    delta(-1, 4, { at_ms: 1, cards: 1 }),
    delta(-1, 4, { cards: 9 }),
    delta(4, 6, { cards: 2 }),
    delta(7, 8, { cards: 3 }),
  ];
  const table = tables.get("T1");
  const cards = table.rounds.view.cards;
  const heard = new Map([[3, 100000]]);
  const state = (changed, now, at_ms) => {
    table.rounds.view.at_ms = at_ms;
    return health(table, { open: true, problem: "", offset: 0, since: 0, heard, ...changed }, now).state;
  };
  const states = [
    state({}, 101000, 95000),
    state({}, 101000, 1),
    state({}, 110000, 109000),
    state({ open: false }, 101000, 100000),
    state({ problem: "Redis" }, 101000, 100000),
    state({ heard: new Map() }, 5000, 4000),
    state({ heard: new Map() }, 10000, 9000),
  ];
  const signed = { signed: true };
  const sums = [
    money(123456789, "EUR", 2),
    money(-5, "USD", 2, signed),
    money(5, "USD", 2, signed),
    money(1500, "JPY", 0),
    money(1, "KWD", 3),
    money(0, "EUR", 2, signed),
  ];
  return { became, cards, states, sums, ages: [age(999), age(61000), age(7200000), age(200000000)] };
}
