import { createHash } from 'node:crypto';
import type { KeyHolder } from '../accounts/key-index.ts';
import { ApiError } from '../contract/errors.ts';
import { type Digest, digestWords } from '../storage/commit/records.ts';
import { briefWord } from '../storage/lmdb/messages.ts';
import type { Environment } from '../storage/lmdb/records.ts';

/**
 * 128 bits that two messages share exactly if the second repeats the first. They are a hash of a message's content, not of its
 * bytes, so the transport and the order of fields and entries do not matter. The first words are the numbers of the application
 * and of the key, so no key can imitate another. Identities are stored: hash the same input in every version, or a repetition
 * across an update counts twice.
 */
export type MessageIdentity = Digest;

export interface Recognition {
  readonly identity: MessageIdentity;
  /** Whether a match is certainly a repetition. Otherwise the message counts: another process may have sent the same. */
  readonly repeats: boolean;
}

export interface MessageSender {
  readonly holder: KeyHolder;
  readonly environment: Pick<Environment, 'number'>;
}

/** @param route `telemetry` and so on, which separates the keys of different routes */
export function identityOfKey(route: string, sender: MessageSender, key: string): MessageIdentity {
  const text = `${route} ${sender.environment.number} ${key}`;
  const [a, b] = digestWords(createHash('sha256').update(text).digest());
  return identityOf(sender, a, b);
}

export function identityOf(
  { holder: { application, key } }: MessageSender,
  a: number,
  b: number,
): MessageIdentity {
  return [application.number, key.number, a, b];
}

/** The identity of a message by its bytes, which is recognised briefly: another message can have the same. */
export function identityOfBytes(
  { holder: { application, key } }: MessageSender,
  bytes: Digest,
): MessageIdentity {
  return [application.number, briefWord(key.number), bytes[0], bytes[1]];
}

const keyPattern = /^[ -~]{1,255}$/;

/** The value of an `Idempotency-Key` header, if sent. @throws {ApiError} `invalid_idempotency_key` */
export function checkIdempotencyKey(value: string | undefined): string | undefined {
  if (value === undefined || keyPattern.test(value)) return value;
  throw new ApiError('invalid_idempotency_key', 'Send 1 to 255 printable ASCII characters, or leave it out');
}
