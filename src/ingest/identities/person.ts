import type { UserHash } from '../../storage/aggregate/user-hash.ts';
import type { Digest } from '../../storage/commit/records.ts';
import type { InstanceUse } from '../../storage/lmdb/instances.ts';

/** A user of an application. The hash counts unique users; the digest finds the person's exposures. */
export interface Person extends UserHash {
  readonly digest: Digest;
}

/** The person that an instance id stands for. */
export interface FoundPerson {
  readonly person: Person;
  /** Set if this use extends the id. */
  readonly use: InstanceUse | undefined;
}

/** 1 to 256 characters (code points) without control characters or lone surrogates. */
const identityPattern = /^[^\p{Cc}\p{Cs}]{1,256}$/u;

/** Whether a text is a valid identity. */
export function isIdentity(text: string): boolean {
  return identityPattern.test(text);
}
