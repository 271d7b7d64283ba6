import { Refusal } from '../contract/errors.ts';
import { isName } from '../contract/names.ts';
import { hasPortZero } from '../contract/port-zero.ts';
import { isOfInternet } from '../http/outbound/addresses.ts';
import type { Jwk, Trust } from '../storage/lmdb/auth-records.ts';
import { readPublicKeys } from './public-keys.ts';

const maxClaims = 10;
const maxIssuerLength = 1024;

export interface WantedTrust extends Pick<Trust, 'issuer' | 'audience' | 'subject'> {
  readonly claims?: Readonly<Record<string, string>>;
  readonly jwks?: { readonly keys: readonly Jwk[] };
}

/**
 * @param allowPrivate true if issuers may be in a private network, and may use `http:` URLs
 * @throws {Refusal} `invalid_body`
 */
export async function readTrust(
  { issuer, audience, subject, claims = {}, jwks }: WantedTrust,
  allowPrivate: boolean,
): Promise<Trust> {
  // The service does not contact an issuer whose keys are given, so such an issuer can have a private address.
  if (!isIssuer(issuer, allowPrivate || jwks !== undefined))
    throw fault('issuer', 'must be the https: URL of a public issuer, without query and fragment');
  if (!isName(audience)) throw fault('audience', 'must have 1 to 256 bytes');
  if (!isSubjectPattern(subject)) throw fault('subject', patternRule);
  const entries = Object.entries(claims);
  if (entries.length > maxClaims || !entries.flat().every(isName))
    throw fault('claims', `must have at most ${maxClaims} claims, with names and values of 1 to 256 bytes`);
  return {
    issuer,
    audience,
    subject,
    ...(entries.length > 0 && { claims: entries }),
    ...(jwks !== undefined && { publicKeys: await readPublicKeys(jwks.keys, 'trust.jwks.keys') }),
  };
}

function isIssuer(text: string, allowPrivate: boolean): boolean {
  if (text.length > maxIssuerLength || /[\s\p{Cc}\\?#@]/u.test(text) || !URL.canParse(text)) return false;
  if (hasPortZero(text)) return false;
  const url = new URL(text);
  if (allowPrivate) return ['https:', 'http:'].includes(url.protocol);
  return url.protocol === 'https:' && isOfInternet(url);
}

function fault(field: string, must: string): Refusal {
  return new Refusal('invalid_body', `\`trust.${field}\` ${must}`);
}

/*
 * Patterns for the subjects of workload tokens, such as `repo:shop/*:ref:refs/heads/main`. Colons and slashes separate
 * segments. The first two segments are literal, so that a pattern cannot trust all owners of repositories at a public
 * issuer. Each later segment may have one asterisk, which stands for one or more characters of that segment.
 */

const separator = /([:/])/;
const maxLength = 255;

const patternRule =
  'must have at most 255 printable characters; each segment after the second can have one *; colons and slashes separate segments';

export function isSubjectPattern(pattern: string): boolean {
  if (!/^[\x20-\x7e]+$/.test(pattern) || pattern.length > maxLength) return false;
  const segments = splitSegments(pattern);
  return segments.every((segment, index) => segment.split('*').length <= (index < 2 ? 1 : 2));
}

/** True if the subject matches the pattern. The time is linear in the length of the subject. */
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

function splitSegments(pattern: string): readonly string[] {
  return pattern.split(separator).filter((_, index) => index % 2 === 0);
}
