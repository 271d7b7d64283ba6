import { createHash } from 'node:crypto';

/** The strong entity tag of a text (RFC 9110 §8.8.3). */
export function entityTag(text: string): string {
  return `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`;
}

/** Whether `If-None-Match` lists a tag. Compared weakly (RFC 9110 §13.1.2), because a compressing proxy weakens the tag. */
export function isTagIn(etag: string, header: string | undefined): boolean {
  const tags = header?.split(',').map((tag) => tag.trim().replace(/^W\//, '')) ?? [];
  return tags.includes(etag) || tags.includes('*');
}
