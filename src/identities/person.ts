import type { UserHash } from '../aggregate/user-hash.ts';
import type { Digest } from '../commit/digest.ts';
import type { InstanceUse } from '../store/instances.ts';

/** Whom a packet is attributed to: the hash counts unique users, the digest finds the person's exposures. */
export interface Person extends UserHash {
  readonly digest: Digest;
}

/** A person who was found by an instance id. */
export interface FoundPerson {
  readonly person: Person;
  /** Set when the id is to live longer, having been used now. */
  readonly use: InstanceUse | undefined;
}

/** 1 to 256 characters (code points), none of them a control character or half of a surrogate pair. */
const identityPattern = /^[^\p{Cc}\p{Cs}]{1,256}$/u;

/** Whether a text can be an identity. */
export function isIdentity(text: string): boolean {
  return identityPattern.test(text);
}
