import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { SigningKeys } from './key-ring.ts';

/** Kinds of values that browsers keep for this service. An HMAC for one kind is not valid for another kind. */
export type MacPurpose =
  | 'attempts at providers'
  | 'challenges of passkeys'
  | 'keys of authenticator apps'
  | 'sign-ins to the console'
  | 'sign-outs at providers';

/** Keys from which HMAC keys are derived. All nodes have the same signing keys. */
export type MacKeys = Pick<SigningKeys, 'current'>;

/**
 * Computes the HMAC-SHA-256 of the joined parts. All but one must have a fixed length, so that the parts are
 * unambiguous. A rotation of the signing key invalidates earlier HMACs.
 */
export function computeMac(
  { current }: MacKeys,
  purpose: MacPurpose,
  ...parts: readonly (string | Uint8Array)[]
): Buffer {
  const hmac = createHmac('sha256', keyFor(current.privateKey, purpose));
  for (const part of parts) hmac.update(part);
  return hmac.digest();
}

/** True if `found` is the HMAC of the parts. The comparison takes constant time. */
export function verifyMac(
  found: Uint8Array,
  ...content: readonly [MacKeys, MacPurpose, ...(string | Uint8Array)[]]
): boolean {
  const wanted = computeMac(...content);
  return found.length === wanted.length && timingSafeEqual(found, wanted);
}

/**
 * Appends an HMAC to a text that is not secret. Only this service can compute the HMAC.
 * @param holder the value to which the text is bound, such as the id of a browser; always of the same length
 */
export function appendMac(keys: MacKeys, purpose: MacPurpose, holder: string, text: string): string {
  return `${text}.${computeMac(keys, purpose, holder, text).toString('base64url')}`;
}

/** The text before the HMAC; `undefined` if the HMAC is missing or wrong for this text, purpose and holder. */
export function readMac(keys: MacKeys, purpose: MacPurpose, holder: string, value: string): string | undefined {
  const at = value.lastIndexOf('.');
  const text = value.slice(0, Math.max(at, 0));
  const code = Buffer.from(value.slice(at + 1), 'base64url');
  return verifyMac(code, keys, purpose, holder, text) ? text : undefined;
}

const derived = new WeakMap<KeyObject, Map<MacPurpose, Buffer>>();

/** Derives a key for one purpose from the signing key. The result reveals nothing about the signing key. */
function keyFor(signingKey: KeyObject, purpose: MacPurpose): Buffer {
  const known = derived.get(signingKey) ?? new Map<MacPurpose, Buffer>();
  derived.set(signingKey, known);
  const made =
    known.get(purpose) ??
    createHmac('sha256', signingKey.export({ type: 'pkcs8', format: 'der' }))
      .update(purpose)
      .digest();
  known.set(purpose, made);
  return made;
}
