import { createHash } from 'node:crypto';

/** Maximum number of pairs of a flag and a user that wait for a report. They take about a megabyte in the report. */
const maxPairs = 50_000;

/** Hashes of users by flag. The server counts each user once a day. */
export type UsersByFlag = ReadonlyMap<string, ReadonlySet<number>>;

/** The users of each flag that the next report will contain. */
export class WaitingUsers {
  readonly #byFlag = new Map<string, Set<number>>();
  #pairs = 0;

  add(flag: string, targetingKey: string): void {
    if (this.#pairs < maxPairs) this.#add(flag, hashUser(targetingKey));
  }

  /** Removes and returns the users of these flags. */
  take(flags: Iterable<string>): UsersByFlag {
    const taken = new Map<string, Set<number>>();
    for (const flag of flags) {
      const users = this.#byFlag.get(flag);
      if (users === undefined) continue;
      taken.set(flag, users);
      this.#byFlag.delete(flag);
      this.#pairs -= users.size;
    }
    return taken;
  }

  /** Puts back the users of a report that is split, so that each smaller report can take its users. */
  putBack(users: UsersByFlag): void {
    for (const [flag, hashes] of users) for (const hash of hashes) this.#add(flag, hash);
  }

  #add(flag: string, hash: number): void {
    const users = this.#byFlag.get(flag) ?? new Set();
    this.#pairs += users.has(hash) ? 0 : 1;
    this.#byFlag.set(flag, users.add(hash));
  }
}

/** Returns the first 48 bits of SHA-256, because a number in JSON is exact only up to 53 bits. */
function hashUser(targetingKey: string): number {
  return createHash('sha256').update(targetingKey).digest().readUIntBE(0, 6);
}
