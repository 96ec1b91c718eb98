// The stream of events: a snapshot, then deltas. A gap, a silence or a lost connection leads back to a snapshot.

import { apply, replace } from "./model.js";

const SILENT_MS = 8000; // the server speaks every two seconds
const AGAIN_MS = 1000;

export class Stream {
  constructor(changed) {
    this.tables = new Map();
    this.link = { open: false, problem: "", offset: 0, since: performance.now(), heard: new Map(), lost: null };
    this.epoch = "";
    this.resyncs = 0;
    this.changed = changed; // called with the id of a table that changed, or null for all
    this.asked = new Set();
    this.spoke = performance.now();
    this.connect();
    setInterval(() => this.watch(), 1000);
  }

  // The server's clock as told with the last message; never carried over a lost connection.
  now() {
    return performance.now() + this.link.offset;
  }

  connect() {
    this.source?.close();
    const source = new EventSource("/events");
    this.source = source;
    this.spoke = performance.now();
    const on = (name, act) =>
      source.addEventListener(name, (event) => {
        if (source !== this.source) return;
        this.spoke = performance.now();
        act(JSON.parse(event.data));
      });
    on("snapshot", (told) => this.snapshot(told));
    on("delta", (delta) => this.delta(delta));
    on("pulse", (pulse) => this.pulse(pulse));
    source.onerror = () => {
      if (source !== this.source) return;
      this.lose();
      if (source.readyState === EventSource.CLOSED) setTimeout(() => source === this.source && this.connect(), AGAIN_MS);
    };
  }

  watch() {
    if (performance.now() - this.spoke > SILENT_MS) {
      this.lose();
      this.connect();
    }
  }

  lose() {
    if (this.link.open) this.link.lost = Date.now();
    this.link.open = false;
    this.link.heard.clear();
  }

  tell(server_time_ms) {
    if (!this.link.open) this.link.since = performance.now();
    this.link.open = true;
    this.link.lost = null;
    this.link.offset = server_time_ms - performance.now();
  }

  snapshot(told) {
    this.tell(told.server_time_ms);
    this.link.since = performance.now();
    this.link.problem = "";
    this.epoch = told.epoch;
    this.resyncs += 1;
    this.asked.clear();
    this.tables.clear();
    for (const table of told.tables) this.tables.set(table.table_id, table);
    this.changed(null);
  }

  pulse(pulse) {
    this.tell(pulse.server_time_ms);
    this.link.problem = pulse.problem;
    this.link.heard = new Map(Object.entries(pulse.ages_ms).map(([partition, ms]) => [Number(partition), performance.now() - ms]));
  }

  delta(delta) {
    const became = apply(this.tables, delta);
    if (became === "gap") this.resync(delta.table_id);
    else if (became === "applied") this.changed(delta.table_id);
  }

  async resync(table_id) {
    if (this.asked.has(table_id)) return;
    this.asked.add(table_id);
    this.resyncs += 1;
    try {
      const answer = await fetch(`/api/tables/${encodeURIComponent(table_id)}`);
      if (!answer.ok) throw new Error(`answered ${answer.status}`);
      const told = await answer.json();
      if (told.epoch === this.epoch) for (const table of told.tables) replace(this.tables, table);
      this.asked.delete(table_id);
      this.changed(table_id);
    } catch {
      this.asked.delete(table_id);
      if (this.source.readyState === EventSource.OPEN) this.connect();
    }
  }
}
