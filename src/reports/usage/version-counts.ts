import { surplusName } from '../../contract/names.ts';
import { parseProgram, senderProgram } from '../../contract/programs.ts';
import type { VersionCounts } from '../../contract/shapes/ledger.ts';
import type { LedgerEntry } from '../../storage/lmdb/ledger.ts';

/** Maximum number of versions that are counted separately. */
const maxVersions = 20;

/** Counts the messages of a program by version and hour. */
export class VersionCounter {
  readonly #program: string;
  readonly #from: number;
  readonly #length: number;
  readonly #versions = new Map<string | null, VersionCounts>();

  /** @param hours hours since the epoch, `from` included, `to` excluded */
  constructor(program: string, { from, to }: { readonly from: number; readonly to: number }) {
    this.#program = program;
    this.#from = from;
    this.#length = to - from;
  }

  /** The counts of each version, in the order in which the versions first appeared. */
  get versions(): VersionCounts[] {
    return [...this.#versions.values()];
  }

  /** Counts the entry if the program sent it. Notes are not counted, because each belongs to an accepted message. */
  add({ hour, dimensions: { userAgent, instance, outcome }, count }: LedgerEntry): void {
    if (outcome === 'noted' || senderProgram(userAgent, instance) !== this.#program) return;
    const own = (userAgent === null ? undefined : parseProgram(userAgent).version) ?? null;
    const version = this.#versions.has(own) || this.#versions.size < maxVersions ? own : surplusName;
    const hourly = () => new Array<number>(this.#length).fill(0);
    const counts = this.#versions.get(version) ?? { version, accepted: 0, refused: 0, hourly: hourly() };
    this.#versions.set(version, counts);
    counts[outcome] += count;
    counts.hourly[hour - this.#from]! += count;
  }
}
