import { addExposure, openExposures } from '../aggregate/add-exposure.ts';
import { addUser } from '../aggregate/add-user.ts';
import type { HotTables } from '../aggregate/hot-tables.ts';
import { seriesPerEnvironment, seriesRef } from '../store/blocks.ts';
import { type Exposures, exposuresKey, putExposures } from '../store/exposures.ts';
import { resolveInstance } from '../store/instances.ts';
import type { ReplicaStore } from '../store/replica-store.ts';
import { environmentOrdinal } from '../store/sketches.ts';
import type { PersonExposures, UnresolvedInstance } from './delta.ts';
import type { ForgottenPeople } from './forgotten.ts';

/** What applying people needs of a delta and of the replica. */
export interface PeopleParts {
  readonly store: ReplicaStore;
  readonly hot: HotTables;
  readonly forgotten: ForgottenPeople;
  /** The replica's ref of a ref of the stream; `undefined` when there is none. */
  own(ref: number, place: string, row: readonly number[]): number | undefined;
  /** Most people of an environment whose exposures are kept. */
  readonly limit: number;
  /** The position of the log that the stream had applied when it began the delta. */
  readonly since: number;
}

const exposureWidth = 6;

/** Adds the variants that a person was given, unless the person was forgotten meanwhile. Call it in a transaction. */
export function applyExposures(parts: PeopleParts, { environment, digest, rows }: PersonExposures): void {
  if (parts.forgotten.has(digest, parts.since)) return;
  const person = new OpenPerson(parts, environment, digest);
  const first = firstOf(rows);
  for (let at = 0; at < rows.length; at += exposureWidth) {
    const row = rows.slice(at, at + exposureWidth);
    const ref = parts.own(seriesRef(environment, row[0]!), 'exposures', row);
    if (ref !== undefined) person.add(ref, first, row[1]!, row[2]!, row[3]!, row[4]!, row[5]!);
  }
  person.put();
}

const unresolvedWidth = 5;

/**
 * Adds what came with an instance id that its node did not know, if the id is one by now that was valid then. Call it in a
 * transaction.
 */
export function applyUnresolved(parts: PeopleParts, unresolved: UnresolvedInstance): void {
  const { environment, digest, seconds, rows } = unresolved;
  if (parts.forgotten.has(digest, parts.since)) return;
  const user = resolveInstance(parts.store, unresolved, seconds * 1000);
  if (user === undefined) return;
  const person = new OpenPerson(parts, environment, digest);
  for (let at = 0; at < rows.length; at += unresolvedWidth) {
    const row = rows.slice(at, at + unresolvedWidth);
    const ref = parts.own(row[0]!, 'unresolved', row);
    if (ref === undefined) continue;
    addUser(parts.hot, ref, row[1]!, user.high, user.low);
    if (ref % seriesPerEnvironment === environmentOrdinal) continue;
    person.add(ref, seconds, seconds, seconds, row[2]!, row[3]!, row[4]!);
  }
  person.put();
}

/** A person's exposures in an environment, read when there is something to add. */
class OpenPerson {
  readonly #parts: PeopleParts;
  readonly #key: Buffer;
  #exposures: Exposures | undefined;
  #isFull = false;

  constructor(parts: PeopleParts, environment: number, digest: Uint8Array) {
    this.#parts = parts;
    this.#key = exposuresKey(environment, digest);
  }

  /** @param listed the time under which a new person is listed, Unix seconds */
  add(
    ref: number,
    listed: number,
    first: number,
    last: number,
    checks: number,
    used: number,
    viewed: number,
  ): void {
    if (this.#isFull) return;
    const { store, limit } = this.#parts;
    this.#exposures ??= openExposures(store, this.#key, listed, limit);
    this.#isFull = this.#exposures === undefined;
    if (this.#exposures === undefined) return;
    addExposure(this.#exposures, ref % seriesPerEnvironment, first, last, checks, used, viewed);
  }

  put(): void {
    if (this.#exposures !== undefined) putExposures(this.#parts.store, this.#key, this.#exposures);
  }
}

/** When the first of some exposures was. */
function firstOf(rows: readonly number[]): number {
  let first = Number.POSITIVE_INFINITY;
  for (let at = 0; at < rows.length; at += exposureWidth) first = Math.min(first, rows[at + 1]!);
  return first;
}
