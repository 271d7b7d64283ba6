import { createHash } from 'node:crypto';

/** The strong entity tag of a text (RFC 9110 §8.8.3): equal texts have the same. */
export function entityTag(text: string): string {
  return `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`;
}
