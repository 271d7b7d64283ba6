import { type Hash64, murmur3 } from './murmur3.ts';

/** The hash that stands for a user. */
export type UserHash = Hash64;

/**
 * Hashes the identity by which the application knows a user.
 * @param identity any string; a lone surrogate counts as U+FFFD
 */
export function hashIdentity(identity: string): UserHash {
  return hash(`identity:${identity}`);
}

/**
 * Hashes a user that a sender reports by a hash of its own.
 * @param decimal the reported integer, of any size, in canonical decimal (`-12`, no leading zeros)
 */
export function hashReported(decimal: string): UserHash {
  return hash(`reported:${decimal}`);
}

const encoder = new TextEncoder();
/** Large enough for the UTF-8 of nearly every user. Longer texts get a separate buffer. */
const scratch = new Uint8Array(2048);

function hash(text: string): UserHash {
  const bytes = text.length * 3 <= scratch.length ? scratch : new Uint8Array(text.length * 3);
  return murmur3(bytes, encoder.encodeInto(text, bytes).written);
}
