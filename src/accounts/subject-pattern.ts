/*
 * Patterns for the subjects of workload tokens: `repo:shop/*:ref:refs/heads/main`. Colons and slashes separate segments. The
 * first two segments are literal, so that a pattern cannot trust all owners at a public issuer. Of the others, each may have
 * one asterisk, which stands for one or more characters of that segment.
 */

const separator = /([:/])/;
const maxLength = 255;

export const patternRule =
  'must be a subject of at most 255 printable characters, in which a segment after the second may have one *; colons and slashes separate segments';

export function isSubjectPattern(pattern: string): boolean {
  if (!/^[\x20-\x7e]+$/.test(pattern) || pattern.length > maxLength) return false;
  const segments = segmentsOf(pattern);
  return segments.every((segment, index) => segment.split('*').length <= (index < 2 ? 1 : 2));
}

/** Whether a subject matches a pattern. Linear in its length. */
export function matchesSubject(pattern: string, subject: string): boolean {
  const wanted = pattern.split(separator);
  const parts = subject.split(separator);
  return parts.length === wanted.length && wanted.every((part, index) => matchesPart(part, parts[index]!));
}

function matchesPart(wanted: string, part: string): boolean {
  const [before = '', after] = wanted.split('*');
  if (after === undefined) return part === wanted;
  return part.length > before.length + after.length && part.startsWith(before) && part.endsWith(after);
}

function segmentsOf(pattern: string): readonly string[] {
  return pattern.split(separator).filter((_, index) => index % 2 === 0);
}
