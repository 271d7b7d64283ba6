import { transact } from '../storage/lmdb/lmdb.ts';
import type { Mark, SpoolStore, StreamRecord } from '../storage/lmdb/spool.ts';
import { encodeDelta } from './delta.ts';
import type { SealOutcome, SealTask } from './seal.ts';
import { putDelta } from './spool.ts';
import { noteProgress } from './spool-notes.ts';
import { Draft, type DraftRoom, moveRecords, type Stage } from './stages.ts';

/** Progress of a round. It visits each record of the open delta once, so it ends despite new packets. */
interface Round {
  /** Packets admitted before it are in the deltas of this round and earlier ones. */
  readonly mark: Mark;
  readonly stage: number;
  /** The first key of the stage not visited yet. */
  readonly from: Buffer;
}

const beginning = Buffer.alloc(0);

/** Deltas in one transaction when a new stream begins and nothing else waits. */
const inheritedDeltas = 64;

interface SealerDeps {
  readonly store: SpoolStore;
  readonly stages: readonly Stage[];
  /** Drops the state in memory of the open delta after a failed step. */
  forget(): void;
  readonly room: DraftRoom;
}

/** Moves counts from the open delta to sealed deltas of one stream. Only the spool worker uses it. */
export class Sealer {
  readonly #deps: SealerDeps;
  readonly #store: SpoolStore;
  readonly #announced = new Set<number>();
  #record: StreamRecord;
  #round: Round | undefined;

  /** @param record of the stream, as stored */
  constructor(deps: SealerDeps, record: StreamRecord) {
    this.#deps = deps;
    this.#store = deps.store;
    this.#record = record;
  }

  /** Seals at most one delta. @throws the store's errors: nothing of the step was kept */
  step(task: SealTask): SealOutcome {
    return this.#transact(() => {
      noteProgress(this.#store, task);
      // The step may just have noted acknowledgements. The stored mark is that of the last delta.
      const { mark, stream } = this.#record;
      const record = { ...this.#store.streams.get(stream)!, mark };
      if (task.onlyNote) return { record, round: this.#round, named: [] };
      return this.#seal(record, this.#round ?? roundAt(task.mark), 1);
    });
  }

  /** Seals the whole open delta, while nothing is counted. */
  sealAll(): void {
    for (let done = false; !done; ) {
      const from = this.#round ?? roundAt(this.#record.mark);
      done = this.#transact(() => this.#seal(this.#record, from, inheritedDeltas)).done;
    }
  }

  #transact(action: () => Sealed): SealOutcome {
    const { record, round, named } = transact(this.#store.lmdb, action, () => this.#deps.forget());
    for (const ref of named) this.#announced.add(ref);
    this.#record = record;
    this.#round = round;
    return { sealed: record.sealed, mark: record.mark, done: round === undefined };
  }

  /** Call it in a transaction. @param limit maximum number of deltas */
  #seal(before: StreamRecord, from: Round, limit: number): Sealed {
    let record = before;
    let round: Round | undefined = from;
    const named = new Set<number>();
    let count = 0;
    while (count < limit && round !== undefined) {
      const isNamed = (ref: number) => this.#announced.has(ref) || named.has(ref);
      const draft = new Draft(this.#store, isNamed, this.#deps.room);
      const next = this.#fill(draft, round);
      const mark: Mark = next === undefined ? round.mark : record.mark;
      if (!draft.isEmpty) {
        const bytes = this.#put(draft, record, mark);
        count += 1;
        const waitingBytes = (record.waitingBytes ?? 0) + bytes;
        record = { ...record, sealed: record.sealed + 1, waitingBytes };
        for (const ref of draft.named) named.add(ref);
      }
      record = { ...record, mark };
      round = next;
    }
    if (count > 0) this.#store.streams.putSync(record.stream, record);
    return { record, round, named };
  }

  /** @returns where the round continues; `undefined` if it is over */
  #fill(draft: Draft, { mark, stage, from }: Round): Round | undefined {
    const { stages } = this.#deps;
    for (let number = stage, key = from; number < stages.length; number += 1, key = beginning) {
      const next = moveRecords(stages[number]!, draft, key);
      if (next !== undefined) return { mark, stage: number, from: next };
    }
    return undefined;
  }

  /** @param mark of the stream after this delta @returns the size of the delta */
  #put(draft: Draft, record: StreamRecord, mark: Mark): number {
    const { stream, number } = record;
    const seq = record.sealed + 1;
    const head = { stream, seq, since: record.mark.applied, version: mark.version, through: mark.at };
    const body = encodeDelta({ ...head, ...draft.content });
    putDelta(this.#store, number, { ...head, body });
    return body.length;
  }
}

interface Sealed {
  readonly record: StreamRecord;
  readonly round: Round | undefined;
  /** Series named in these deltas. */
  readonly named: Iterable<number>;
}

function roundAt(mark: Mark): Round {
  return { mark, stage: 0, from: beginning };
}
