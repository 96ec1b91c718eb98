// What the page knows, from the stream and nothing else: per table and topic a view, and the offset it stands at.

export const TOPICS = ["rounds", "settlements"];

// What became of a delta: "applied", "old" (it is in already) or "gap" (something before it was missed).
export function apply(tables, delta) {
  let table = tables.get(delta.table_id);
  if (!table) {
    table = { table_id: delta.table_id, partition: delta.partition, rounds: null, settlements: null };
    tables.set(delta.table_id, table);
  }
  const known = table[delta.topic];
  const offset = known ? known.offset : -1;
  if (delta.to <= offset) return "old";
  if (delta.from !== offset) return "gap";
  table[delta.topic] = { offset: delta.to, view: { ...(known ? known.view : {}), ...delta.set } };
  return "applied";
}

// A table as the server has it now, laid over what is known, unless deltas have come further meanwhile.
export function replace(tables, told) {
  const known = tables.get(told.table_id);
  const table = { ...told };
  for (const topic of TOPICS) {
    if (known && known[topic] && (!told[topic] || told[topic].offset < known[topic].offset)) table[topic] = known[topic];
  }
  tables.set(told.table_id, table);
}

const STALE_MS = 9000; // four heartbeats and a bit
const FRESH_MS = 20000;

// live: facts come. quiet: nothing new, but the heart beats. stale: nobody knows what happens at the table.
export function health(table, link, now) {
  const heard = link.heard.get(table.partition);
  const silence = heard === undefined ? now - link.since : now - heard;
  const facts = Math.max(...TOPICS.map((topic) => (table[topic] ? table[topic].view.at_ms : 0)));
  const old = Math.max(0, now + link.offset - facts);
  if (!link.open || link.problem || silence > STALE_MS) return { state: "stale", old, silence };
  return { state: old < FRESH_MS ? "live" : "quiet", old, silence };
}
