import { gzipSync } from 'node:zlib';
import type { Overview } from '../contract/shapes/overview.ts';
import { entityTag } from '../http/entity-tag.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Freshness } from '../storage/commit/usage-store.ts';

/** A result that many callers get: JSON, compressed once. */
export interface PackedJson {
  /** Changes with the content, but not with the time at which it was made. */
  readonly tag: string;
  readonly gzip: Uint8Array<ArrayBuffer>;
  /** See `Call`. */
  readonly fresh?: Freshness | undefined;
}

interface Shared {
  /** Monotonic ms. */
  startedAt: number;
  result: Promise<PackedJson>;
  isUnderWay: boolean;
}

/** Least time between two beginnings of one computation, ms. */
const freshMs = 1000;

/** Results that are kept, the one last asked for at the end. */
const maxKept = 64;

/**
 * Shares results, so that one is made at most once a second, and never twice at a time, however many callers ask. The
 * callers must be admitted before: what is kept here is given to whoever knows its key.
 */
export class SharedResults {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #kept = new Map<string, Shared>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** @throws whatever `make` does; that is not kept */
  get(key: string, make: () => Promise<PackedJson>): Promise<PackedJson> {
    const now = this.#clock.monotonic();
    const known = this.#kept.get(key);
    if (known !== undefined && (known.isUnderWay || now - known.startedAt < freshMs)) {
      this.#keep(key, known);
      return known.result;
    }
    const shared: Shared = { startedAt: now, isUnderWay: true, result: makeAfter(known, make) };
    this.#keep(key, shared);
    shared.result.then(
      () => {
        shared.isUnderWay = false;
      },
      () => {
        if (this.#kept.get(key) === shared) this.#kept.delete(key);
      },
    );
    return shared.result;
  }

  #keep(key: string, shared: Shared): void {
    this.#kept.delete(key);
    this.#kept.set(key, shared);
    if (this.#kept.size <= maxKept) return;
    const [oldest] = this.#kept.keys();
    this.#kept.delete(oldest!);
  }
}

/** A tag stands for the same bytes as long as it is given, so what has not changed is given as it was. */
async function makeAfter(known: Shared | undefined, make: () => Promise<PackedJson>): Promise<PackedJson> {
  const [made, before] = await Promise.all([make(), known?.result]);
  return before?.tag === made.tag ? before : made;
}

/** Fast rather than small: the answer changes every second or two. */
const level = 3;

/**
 * Writes an overview as JSON and compresses it. Its tag does not depend on when it was computed.
 * @param fresh what the headers say; none on one machine
 */
export function packJson(shown: Overview, fresh?: Freshness): PackedJson {
  const json = JSON.stringify(shown);
  const withoutTimes = [shown.at, shown.completeThrough].reduce(
    (text, time) => text.replaceAll(`"${time}"`, '""'),
    json,
  );
  return { tag: entityTag(withoutTimes), gzip: Uint8Array.from(gzipSync(json, { level })), fresh };
}
