import { randomBytes } from 'node:crypto';

/** A random 63-bit number as decimal text: ids of entries, which never repeat. */
export function randomId(): string {
  return (randomBytes(8).readBigUInt64BE() >> 1n).toString();
}
