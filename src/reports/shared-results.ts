import { gzipSync } from 'node:zlib';
import type { Overview } from '../contract/shapes/overview.ts';
import { entityTag } from '../http/entity-tag.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Freshness } from '../storage/commit/usage-store.ts';

/** A result for many callers: JSON, compressed once. */
export interface PackedJson {
  /** Entity tag. It depends on the content, but not on the time of the computation. */
  readonly tag: string;
  readonly gzip: Uint8Array<ArrayBuffer>;
  /** See `Call`. */
  readonly fresh?: Freshness | undefined;
}

interface SharedResult {
  /** Start of the computation on the monotonic clock, ms. */
  startedAt: number;
  result: Promise<PackedJson>;
  isUnderWay: boolean;
}

/** Minimum interval between two starts of the same computation, ms. */
const freshMs = 1000;

/** Maximum number of cached results. The least recently used result is dropped. */
const maxKept = 64;

/**
 * Shares results among callers. Each result is computed at most once a second, and never twice concurrently. Check the
 * permissions of a caller first: every caller with the key gets the result.
 */
export class SharedResults {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #kept = new Map<string, SharedResult>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Returns a result. @throws {unknown} the error of `make`; a failure is not cached */
  get(key: string, make: () => Promise<PackedJson>): Promise<PackedJson> {
    const now = this.#clock.monotonic();
    const known = this.#kept.get(key);
    if (known !== undefined && (known.isUnderWay || now - known.startedAt < freshMs)) {
      this.#keep(key, known);
      return known.result;
    }
    const shared: SharedResult = { startedAt: now, isUnderWay: true, result: makeAfter(known, make) };
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

  #keep(key: string, shared: SharedResult): void {
    this.#kept.delete(key);
    this.#kept.set(key, shared);
    if (this.#kept.size <= maxKept) return;
    const [oldest] = this.#kept.keys();
    this.#kept.delete(oldest!);
  }
}

/** Returns the previous result if the new tag is equal, because equal strong entity tags promise equal bytes. */
async function makeAfter(known: SharedResult | undefined, make: () => Promise<PackedJson>): Promise<PackedJson> {
  const [made, before] = await Promise.all([make(), known?.result]);
  return before?.tag === made.tag ? before : made;
}

/** Compression level. It favours speed, because the response changes every second or two. */
const level = 3;

/**
 * Encodes an overview as JSON and compresses it. The tag does not depend on the time of the computation. The rows are
 * encoded once and not copied, because most of the text is rows.
 */
export function packJson({ features, ...shown }: Overview, fresh?: Freshness): PackedJson {
  const rows = JSON.stringify(features);
  const tag = entityTag(JSON.stringify({ ...shown, at: '', completeThrough: '' }), rows);
  const json = `${JSON.stringify(shown).slice(0, -1)},"features":${rows}}`;
  return { tag, gzip: Uint8Array.from(gzipSync(json, { level })), fresh };
}
