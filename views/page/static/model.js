// What the server has said: everything once, then changes. Nothing here draws.

const MOST_EVICTIONS = 200;
const MOST_CHANGES = 64;
const IN_QUEUE = new Set(["waiting"]);

export class Model {
  gangs = new Map();
  nodes = new Map();
  evictions = [];
  resources = [];
  about = { server: "", namespace: "", seesNodes: true };
  lag = 0;
  hasBegun = false;
  isPlayed = false;

  // Takes a message; says what it has changed.
  full(body) {
    this.about = { server: body.server, namespace: body.namespace, seesNodes: body.seesNodes };
    this.resources = body.resources;
    this.gangs = new Map(body.gangs.map((row) => [row.uid, this.#drawn(row)]));
    this.nodes = new Map(body.nodes.map((row) => [row.name, row]));
    this.evictions = body.evictions.slice().reverse();
    this.lag = Date.now() - body.now;
    this.hasBegun = true;
    return { gangs: true, nodes: true, evictions: true };
  }

  delta(body) {
    if (body.resources) {
      this.resources = body.resources;
      this.nodes.clear();
    }
    for (const row of body.gangs ?? []) this.#gang(row, body.now);
    for (const uid of body.forgotten ?? []) this.gangs.delete(uid);
    for (const row of body.nodes ?? []) this.nodes.set(row.name, row);
    for (const name of body.lost ?? []) this.nodes.delete(name);
    for (const row of body.evictions ?? []) this.evictions.unshift({ ...row, isNew: true });
    this.evictions.length = Math.min(this.evictions.length, MOST_EVICTIONS);
    this.lag = Date.now() - body.now;
    return {
      gangs: Boolean(body.gangs || body.forgotten),
      nodes: Boolean(body.nodes || body.lost || body.resources),
      evictions: Boolean(body.evictions),
    };
  }

  #gang(row, now) {
    const known = this.gangs.get(row.uid);
    const history = row.history ?? known?.history ?? [];
    if (!history.length || history.at(-1)[1] !== row.state) history.push([now, row.state]);
    if (history.length > MOST_CHANGES) history.shift();
    this.gangs.set(row.uid, this.#drawn({ ...row, history }));
  }

  // What a search looks at is put together once.
  #drawn(row) {
    row.words = `${row.ns}/${row.name} ${row.group} ${row.state} ${row.reason}`.toLowerCase();
    return row;
  }

  // Milliseconds since 1970 by the server's clock; of a recording the time that is shown, which stands.
  now() {
    return this.standing ?? Date.now() - this.lag;
  }

  stand(at) {
    this.standing = at;
  }

  counts() {
    const found = {};
    for (const gang of this.gangs.values()) found[gang.state] = (found[gang.state] ?? 0) + 1;
    return found;
  }

  // Gangs to be shown: those that did something last come first among those that are over, the others by age.
  listed(states, words) {
    const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
    const found = [];
    for (const gang of this.gangs.values()) {
      if (states.size && !states.has(gang.state)) continue;
      if (wanted.every((word) => gang.words.includes(word))) found.push(gang);
    }
    return found.sort((one, other) => other.created - one.created || (one.name < other.name ? -1 : 1));
  }

  // As the scheduler tries them: priority, then age; one that had to leave keeps the age of its group.
  queue() {
    const found = [...this.gangs.values()].filter((gang) => IN_QUEUE.has(gang.state));
    return found.sort((one, other) => other.priority - one.priority || one.created - other.created || (one.uid < other.uid ? -1 : 1));
  }

  byNumber() {
    if (!this.numbered || this.numberedOf !== this.gangs || this.numbered.size !== this.gangs.size) {
      this.numbered = new Map([...this.gangs.values()].map((gang) => [gang.id, gang.uid]));
      this.numberedOf = this.gangs;
    }
    return this.numbered;
  }
}
