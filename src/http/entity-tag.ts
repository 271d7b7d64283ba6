import { createHash } from 'node:crypto';

/** The strong entity tag of a text (RFC 9110 §8.8.3): equal texts have the same. */
export function entityTag(text: string): string {
  return `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`;
}

/** Whether `If-None-Match` names a tag. It compares weakly (RFC 9110 §13.1.2): a proxy that compresses marks the tag as weak. */
export function isTagIn(etag: string, header: string | undefined): boolean {
  const tags = header?.split(',').map((tag) => tag.trim().replace(/^W\//, '')) ?? [];
  return tags.includes(etag) || tags.includes('*');
}
