import { decide, type HoldReason, type KnownStream, type PostgresStream } from '../../src/replication/streams.ts';

/**
 * Searches all states of the streams of two nodes. Packets arrive, deltas are sealed, shipped and acknowledged,
 * responses are lost, PostgreSQL fails over to a standby that can lack commits, an operator closes streams, and the
 * directory of a node is copied. `decide` chooses the next action of a node. A packet is a bit. A delta is the set of
 * its packets, which is also its digest.
 */
export interface Model {
  readonly packets: number;
  readonly failovers: number;
  /** True if the response to a commit is sent before the standby has the commit. */
  readonly isLossy?: boolean;
  /** The copy of the first node's directory. `restored`: an old copy runs instead of the node. `cloned`: both run. */
  readonly copy?: 'restored' | 'cloned';
  /** Number of times that the open streams of a node are closed. Each time, the process of the node restarts. */
  readonly closes?: number;
  /** True to remove replicated deltas immediately, so a stream that a failover reverts is held until it is closed. */
  readonly keepsNothing?: boolean;
  /** True if the former primary can still be queried after a failover. Its commits are never kept. */
  readonly isOldAsked?: boolean;
  /** The rule that the model omits, to prove that it is needed. */
  readonly without?: 'fence' | 'confirmation';
}

interface StreamState {
  readonly id: number;
  readonly open: number;
  readonly deltas: readonly number[];
  readonly acknowledged: number;
  readonly kept: number;
  readonly held: HoldReason | null;
}

interface Row {
  readonly seq: number;
  readonly digest: number;
  readonly isClosed?: true;
}

interface Database {
  readonly rows: Readonly<Record<number, Row>>;
  readonly counts: readonly number[];
}

interface State {
  readonly primary: Database;
  readonly standby: Database;
  /** The former primary. */
  readonly old: Database | null;
  /** Streams of both nodes, the stream of the current process first; `null` if the node does not run. */
  readonly nodes: readonly (readonly StreamState[] | null)[];
  readonly next: number;
  readonly failovers: number;
  readonly closes: number;
  readonly copy: readonly StreamState[] | null;
  /** Packets that may be missing, because they were acknowledged on a lost disk after the copy was made. */
  readonly excused: number;
  readonly accepted: number;
  readonly seenAtCopy: number;
}

const fresh = (id: number): StreamState => ({ id, open: 0, deltas: [], acknowledged: 0, kept: 1, held: null });

/** Returns the id of the stream of the next process, or of the stream that continues a closed stream. */
const successor = (id: number) => id + 2;
const heir = (id: number) => id + 10;

function start({ packets, copy }: Model): State {
  const database: Database = { rows: {}, counts: Array(packets).fill(0) };
  return {
    primary: database,
    standby: database,
    old: null,
    nodes: [[fresh(0)], copy === undefined ? [fresh(1)] : null],
    next: 0,
    failovers: 0,
    closes: 0,
    copy: null,
    excused: 0,
    accepted: 0,
    seenAtCopy: 0,
  };
}

/** Searches the states. @returns the number of reachable states, and a description of the first wrong state */
export function search(model: Model): { readonly states: number; readonly wrong: string | undefined } {
  const keys = new StateKeys();
  const seen = new Set<string>();
  const open: State[] = [start(model)];
  seen.add(keys.compute(open[0]!));
  for (let state = open.pop(); state !== undefined; state = open.pop()) {
    const wrong = whatIsWrong(model, state);
    if (wrong !== undefined) return { states: seen.size, wrong: `${wrong} in ${JSON.stringify(state)}` };
    for (const next of successors(model, state)) {
      const key = keys.compute(next);
      if (seen.has(key)) continue;
      seen.add(key);
      open.push(next);
    }
  }
  return { states: seen.size, wrong: undefined };
}

/**
 * Keys of states. States share most of their databases and streams, so each database and stream has a number, and a key
 * consists of numbers. With keys in JSON, the search would take twice as long.
 */
class StateKeys {
  readonly #byIdentity = new WeakMap<object, number>();
  readonly #byContent = new Map<string, number>();

  compute({ primary, standby, old, nodes, copy, ...numbers }: State): string {
    const databases = [primary, standby, old].map((database) => this.#number(database));
    const streams = [...nodes, copy].map((each) => each?.map((stream) => this.#number(stream)).join(' '));
    return `${databases} ${streams.join(',')} ${Object.values(numbers)}`;
  }

  #number(part: Database | StreamState | null): number {
    if (part === null) return -1;
    let number = this.#byIdentity.get(part);
    if (number !== undefined) return number;
    const content = JSON.stringify(part);
    number = this.#byContent.get(content) ?? this.#byContent.size;
    this.#byContent.set(content, number);
    this.#byIdentity.set(part, number);
    return number;
  }
}

function isSame(one: unknown, other: unknown): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}

function whatIsWrong(model: Model, state: State): string | undefined {
  const { counts } = state.primary;
  if (counts.some((count) => count > 1)) return 'a packet was counted twice';
  if (!isQuiet(model, state)) return undefined;
  const excused = state.excused | heldPackets(state);
  const missing = counts.findIndex((count, packet) => count === 0 && !(excused & (1 << packet)));
  return missing < 0 ? undefined : `packet ${missing} is missing`;
}

/** True if no fault is left, and all packets have arrived, were shipped, and are known to be in PostgreSQL. */
function isQuiet(model: Model, { primary, standby, nodes, next, failovers, closes }: State): boolean {
  if (next < model.packets || failovers < model.failovers || closes < (model.closes ?? 0) || !isSame(primary, standby))
    return false;
  return nodes.every((streams) => streams === null || streams.every(isAtRest));

  function isAtRest(stream: StreamState, place: number): boolean {
    if (stream.open !== 0 && stream.held === null) return false;
    const decision = decide(describeStream(stream, place === 0), readStreamRow(primary, stream.id), true);
    return decision.action === 'rest' || (decision.action === 'hold' && decision.why === stream.held);
  }
}

/** True if an operator must decide about the stream. Its deltas are not lost. */
function isHeld({ held }: StreamState): boolean {
  return held === 'foreign' || held === 'behind';
}

/** Returns the packets in held streams. */
function heldPackets({ nodes }: State): number {
  const held = nodes.flatMap((streams) => streams ?? []).filter(isHeld);
  return held.flatMap(({ open, deltas }) => [open, ...deltas]).reduce((all, each) => all | each, 0);
}

function* successors(model: Model, state: State): Generator<State> {
  const { primary, standby, nodes, next, failovers } = state;
  if (standby !== primary) yield { ...state, standby: primary };
  const old = model.isOldAsked ? primary : null;
  if (failovers < model.failovers) yield { ...state, old, primary: standby, failovers: failovers + 1 };
  for (const [node, streams] of nodes.entries()) {
    if (streams === null) continue;
    for (const [place, stream] of streams.entries()) {
      const put = (changed: StreamState | readonly StreamState[], more: Partial<State> = {}): State => ({
        ...state,
        ...more,
        nodes: nodes.map((each, at) =>
          at === node ? streams.flatMap((one, index) => (index === place ? changed : one)) : each,
        ),
      });
      if (place === 0) yield* counting(model, state, stream, put);
      yield* shipping(model, state, stream, put);
      yield* settling(model, state, stream, place === 0, put);
      const isRemovable = stream.held === null && stream.kept <= stream.acknowledged;
      if (model.keepsNothing && primary === standby && isRemovable)
        yield put({ ...stream, kept: stream.acknowledged + 1 });
    }
    yield* closing(model, state, streams);
  }
  if (next >= 0 && model.copy !== undefined) yield* copying(model, state);
}

type StateChange = (changed: StreamState | readonly StreamState[], more?: Partial<State>) => State;

/** Closes the streams of a node in PostgreSQL. A lossy failover can revert this. */
function* closing(model: Model, state: State, streams: readonly StreamState[]): Generator<State> {
  if (state.closes >= (model.closes ?? 0)) return;
  const ofNode = new Set(streams.map(({ id }) => id));
  const rows = { ...state.primary.rows };
  for (const [id, row] of Object.entries(rows))
    if (ofNode.has(Number(id))) rows[Number(id)] = { ...row, isClosed: true };
  yield { ...state, primary: { ...state.primary, rows }, closes: state.closes + 1 };
}

function* counting(
  { packets }: Model,
  { next, accepted }: State,
  stream: StreamState,
  put: StateChange,
): Generator<State> {
  if (next < packets) {
    const bit = 1 << next;
    yield put({ ...stream, open: stream.open | bit }, { next: next + 1, accepted: accepted | bit });
  }
  if (stream.open !== 0) yield put({ ...stream, open: 0, deltas: [...stream.deltas, stream.open] });
}

function* shipping(model: Model, { primary }: State, stream: StreamState, put: StateChange): Generator<State> {
  const row = primary.rows[stream.id];
  const seq = stream.acknowledged + 1;
  const delta = stream.deltas[seq - 1];
  if (delta === undefined || row === undefined || row.isClosed || stream.held !== null) return;
  const follows = row.seq === seq - 1 && (seq <= stream.kept || row.digest === stream.deltas[seq - 2]);
  if (!follows && model.without !== 'fence') return;
  const shipped = { primary: inserted(primary, stream.id, seq, delta) };
  yield put(stream, shipped); // The response was lost.
  if (model.isLossy) yield put({ ...stream, acknowledged: seq }, shipped);
  else yield put({ ...stream, acknowledged: seq }, { ...shipped, standby: shipped.primary });
}

/** Queries PostgreSQL, or the former primary. */
function* settling(
  model: Model,
  { primary, standby, old }: State,
  ...stream: [stream: StreamState, isOwn: boolean, put: StateChange]
): Generator<State> {
  const [{ id }, , put] = stream;
  const isReplicated = isSame(primary.rows[id], standby.rows[id]);
  const isTrusted = model.without === 'confirmation';
  yield* settledBy(primary, isReplicated || model.isLossy === true || isTrusted, ...stream);
  if (old !== null) yield* settledBy(old, isTrusted, stream[0], stream[1], (changed) => put(changed));
}

function* settledBy(
  database: Database,
  isConfirmed: boolean,
  ...[stream, isOwn, put]: [stream: StreamState, isOwn: boolean, put: StateChange]
): Generator<State> {
  const decision = decide(describeStream(stream, isOwn), readStreamRow(database, stream.id), isConfirmed);
  if (stream.held !== null && decision.action !== 'hold' && decision.action !== 'confirm')
    yield put({ ...stream, held: null });
  switch (decision.action) {
    case 'register':
      return yield put(stream, { primary: withRow(database, stream.id, { seq: 0, digest: 0 }) });
    case 'acknowledge':
      return yield put({ ...stream, acknowledged: decision.seq });
    case 'shipAgain':
      return yield put({ ...stream, acknowledged: decision.from - 1 });
    case 'hold':
      if (decision.why !== 'closed') return yield put({ ...stream, held: decision.why });
      return yield put(isOwn ? restarted(stream) : withRest(stream, database.rows[stream.id]!.seq));
  }
}

/** Returns the streams of the next process: its own stream, and the inherited stream. */
function restarted(stream: StreamState): StreamState[] {
  const { open, deltas } = stream;
  return [
    fresh(successor(stream.id)),
    { ...stream, open: 0, held: null, deltas: open === 0 ? deltas : [...deltas, open] },
  ];
}

/** Moves the rest of a closed stream: see `takeRest`. */
function withRest(stream: StreamState, after: number): StreamState[] {
  const rest = stream.deltas.slice(Math.max(after, stream.kept - 1));
  const emptied = {
    ...stream,
    deltas: stream.deltas.slice(0, after),
    acknowledged: after,
    kept: Math.min(stream.kept, after + 1),
  };
  return rest.length === 0 ? [emptied] : [emptied, { ...fresh(heir(stream.id)), deltas: rest }];
}

function describeStream({ deltas, acknowledged, kept }: StreamState, isOwn: boolean): KnownStream {
  return { isOwn, sealed: deltas.length, acknowledged, kept, digest: (seq) => `${deltas[seq - 1]}` };
}

function readStreamRow({ rows }: Database, id: number): PostgresStream | undefined {
  const row = rows[id];
  return row && { seq: row.seq, digest: `${row.digest}`, state: row.isClosed ? 'forgotten' : 'open' };
}

function withRow(database: Database, id: number, row: Row): Database {
  return { ...database, rows: { ...database.rows, [id]: row } };
}

function inserted(database: Database, id: number, seq: number, delta: number): Database {
  const counts = database.counts.map((count, packet) => (delta & (1 << packet) ? Math.min(2, count + 1) : count));
  return withRow({ ...database, counts }, id, { seq, digest: delta });
}

/** Copies the directory. The copy inherits the sealed deltas of the first node. */
function* copying({ copy }: Model, state: State): Generator<State> {
  const [first, second] = state.nodes;
  if (state.copy === null && first) {
    yield { ...state, copy: first, seenAtCopy: state.accepted };
    return;
  }
  if (state.copy === null || second !== null) return;
  const [last, ...earlier] = state.copy;
  const { open, deltas } = last!;
  const inherited: StreamState = { ...last!, open: 0, deltas: open === 0 ? deltas : [...deltas, open] };
  const gone = state.accepted & ~state.seenAtCopy;
  const started: StreamState[] = [fresh(1), inherited, ...earlier];
  if (copy === 'restored') yield { ...state, nodes: [null, started], excused: state.excused | gone };
  else yield { ...state, nodes: [first ?? null, started] };
}
