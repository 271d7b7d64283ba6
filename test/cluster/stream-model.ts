import { decide, type KnownStream } from '../../src/cluster/decide.ts';

/**
 * All that can happen to the streams of two nodes, as a search through every state: packets come in, deltas are sealed, shipped
 * and acknowledged, answers are lost, the engine fails over to a standby that may not have everything, and the directory of a
 * node is copied. What is done about it, `decide` says. A packet is a bit; a delta is the packets in it, which is its digest too.
 */
export interface Model {
  readonly packets: number;
  readonly failovers: number;
  /** A commit is answered before the standby has it. */
  readonly isLossy?: boolean;
  /** `restored`: an old copy of the first node's directory is started, and the first node is gone. `cloned`: both run. */
  readonly copy?: 'restored' | 'cloned';
  /** Deltas that are replicated are removed at once: what a failover takes back is lost, and must be said to be. */
  readonly keepsNothing?: boolean;
  /** Taken out, to see that it is needed. */
  readonly without?: 'fence' | 'confirmation';
}

interface StreamState {
  readonly id: number;
  readonly open: number;
  readonly deltas: readonly number[];
  readonly acknowledged: number;
  readonly kept: number;
  readonly stopped: boolean;
}

interface Row {
  readonly seq: number;
  readonly digest: number;
}

interface Engine {
  readonly rows: readonly (Row | null)[];
  readonly counts: readonly number[];
}

interface State {
  readonly primary: Engine;
  readonly standby: Engine;
  /** Streams of both nodes: own and inherited; `null` when the node does not run. */
  readonly nodes: readonly (readonly StreamState[] | null)[];
  readonly next: number;
  readonly failovers: number;
  readonly copy: StreamState | null;
  /** What was answered after the copy was made, by a disk that is gone; and what is known to be lost. */
  readonly excused: number;
  readonly accepted: number;
  readonly seenAtCopy: number;
}

const fresh = (id: number): StreamState => ({
  id,
  open: 0,
  deltas: [],
  acknowledged: 0,
  kept: 1,
  stopped: false,
});

function start({ packets, copy }: Model): State {
  const engine: Engine = { rows: [null, null], counts: Array(packets).fill(0) };
  return {
    primary: engine,
    standby: engine,
    nodes: [[fresh(0)], copy === undefined ? [fresh(1)] : null],
    ...{ next: 0, failovers: 0, copy: null, excused: 0, accepted: 0, seenAtCopy: 0 },
  };
}

/** @returns the states that can be reached; the first one that is wrong is described */
export function search(model: Model): { readonly states: number; readonly wrong: string | undefined } {
  const seen = new Set<string>();
  const open: State[] = [start(model)];
  seen.add(JSON.stringify(open[0]));
  for (let state = open.pop(); state !== undefined; state = open.pop()) {
    const wrong = whatIsWrong(model, state);
    if (wrong !== undefined) return { states: seen.size, wrong: `${wrong} in ${JSON.stringify(state)}` };
    for (const next of successors(model, state)) {
      const key = JSON.stringify(next);
      if (seen.has(key)) continue;
      seen.add(key);
      open.push(next);
    }
  }
  return { states: seen.size, wrong: undefined };
}

function whatIsWrong(model: Model, state: State): string | undefined {
  const { counts } = state.primary;
  if (counts.some((count) => count > 1)) return 'a packet was counted twice';
  if (!isQuiet(model, state)) return undefined;
  const missing = counts.findIndex((count, packet) => count === 0 && !(state.excused & (1 << packet)));
  return missing < 0 ? undefined : `packet ${missing} is missing`;
}

/** No fault is to come, everything has come in, was shipped, and is known to be in the engine. */
function isQuiet(model: Model, { primary, standby, nodes, next, failovers }: State): boolean {
  if (
    next < model.packets ||
    failovers < model.failovers ||
    JSON.stringify(primary) !== JSON.stringify(standby)
  )
    return false;
  return nodes
    .flatMap((streams) => streams ?? [])
    .every((stream) => {
      const rest = stream.open === 0 && stream.acknowledged === stream.deltas.length;
      return stream.stopped || (rest && (primary.rows[stream.id]?.seq ?? 0) >= stream.deltas.length);
    });
}

function* successors(model: Model, state: State): Generator<State> {
  const { primary, standby, nodes, next, failovers } = state;
  if (standby !== primary) yield { ...state, standby: primary };
  if (failovers < model.failovers) yield { ...state, primary: standby, failovers: failovers + 1 };
  for (const [node, streams] of nodes.entries()) {
    if (streams === null) continue;
    for (const [place, stream] of streams.entries()) {
      const put = (changed: StreamState, more: Partial<State> = {}): State => ({
        ...state,
        ...more,
        nodes: nodes.map((each, at) =>
          at === node ? streams.map((one, index) => (index === place ? changed : one)) : each,
        ),
      });
      if (place === 0) yield* counting(model, state, stream, put);
      if (!stream.stopped) yield* shipping(model, state, stream, place === 0, put);
      if (model.keepsNothing && primary === standby && stream.kept <= stream.acknowledged)
        yield put({ ...stream, kept: stream.acknowledged + 1 });
    }
  }
  if (next >= 0 && model.copy !== undefined) yield* copying(model, state);
}

type Put = (changed: StreamState, more?: Partial<State>) => State;

function* counting(
  { packets }: Model,
  { next, accepted }: State,
  stream: StreamState,
  put: Put,
): Generator<State> {
  if (next < packets) {
    const bit = 1 << next;
    yield put({ ...stream, open: stream.open | bit }, { next: next + 1, accepted: accepted | bit });
  }
  if (stream.open !== 0) yield put({ ...stream, open: 0, deltas: [...stream.deltas, stream.open] });
}

function* shipping(
  model: Model,
  state: State,
  stream: StreamState,
  isOwn: boolean,
  put: Put,
): Generator<State> {
  const { primary, standby } = state;
  const row = primary.rows[stream.id] ?? null;
  const isReplicated = JSON.stringify(row) === JSON.stringify(standby.rows[stream.id] ?? null);
  const isConfirmed = isReplicated || model.isLossy === true || model.without === 'confirmation';
  const seq = stream.acknowledged + 1;
  const delta = stream.deltas[seq - 1];
  if (delta !== undefined && row !== null && (row.seq === seq - 1 || model.without === 'fence')) {
    const shipped = { primary: inserted(primary, stream.id, seq, delta) };
    yield put(stream, shipped); // The answer was lost.
    if (model.isLossy) yield put({ ...stream, acknowledged: seq }, shipped);
    else yield put({ ...stream, acknowledged: seq }, { ...shipped, standby: shipped.primary });
  }
  const said = row === null ? undefined : { seq: row.seq, digest: `${row.digest}`, state: 'open' as const };
  const decision = decide(knownOf(stream, isOwn), said, isConfirmed);
  switch (decision.action) {
    case 'register':
      return yield put(stream, { primary: withRow(primary, stream.id, { seq: 0, digest: 0 }) });
    case 'acknowledge':
      return yield put({ ...stream, acknowledged: decision.seq });
    case 'shipAgain':
      return yield put({ ...stream, acknowledged: decision.from - 1 });
    case 'skip': {
      const lost = stream.deltas.slice(decision.from - 1, decision.to).reduce((all, each) => all | each, 0);
      const skipped = withRow(primary, stream.id, { seq: decision.to, digest: 0 });
      return yield put(
        { ...stream, acknowledged: decision.to },
        { primary: skipped, excused: state.excused | lost },
      );
    }
    case 'setAside':
      return yield put({ ...stream, stopped: true });
    case 'stop':
      throw new Error('What this process has acknowledged was given up');
  }
}

function knownOf({ deltas, acknowledged, kept }: StreamState, isOwn: boolean): KnownStream {
  return { isOwn, sealed: deltas.length, acknowledged, kept, digest: (seq) => `${deltas[seq - 1]}` };
}

function withRow(engine: Engine, id: number, row: Row): Engine {
  return { ...engine, rows: engine.rows.map((each, at) => (at === id ? row : each)) };
}

function inserted(engine: Engine, id: number, seq: number, delta: number): Engine {
  const counts = engine.counts.map((count, packet) =>
    delta & (1 << packet) ? Math.min(2, count + 1) : count,
  );
  return withRow({ ...engine, counts }, id, { seq, digest: delta });
}

/** The copy inherits what the first node had, sealed. Where the first one runs on, its beats say so, and the copy is refused. */
function* copying({ copy }: Model, state: State): Generator<State> {
  const [first, second] = state.nodes;
  if (state.copy === null && first) {
    yield { ...state, copy: first[0]!, seenAtCopy: state.accepted };
    return;
  }
  if (state.copy === null || second !== null) return;
  const { open, deltas } = state.copy;
  const inherited: StreamState = { ...state.copy, open: 0, deltas: open === 0 ? deltas : [...deltas, open] };
  const gone = state.accepted & ~state.seenAtCopy;
  if (copy === 'restored')
    yield { ...state, nodes: [null, [fresh(1), inherited]], excused: state.excused | gone };
  else yield { ...state, nodes: [first ?? null, [fresh(1), { ...inherited, stopped: true }]] };
}
