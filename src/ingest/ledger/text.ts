import { openPart } from '../../accounts/secrets.ts';

/** The longest text from a request that the ledger keeps, in characters. */
const longest = 200;

/** Keys, secrets and tokens. A recognisable prefix of those of this service is kept. */
const secrets = /(fm_[a-z]+_[0-9a-z]{0,6})[\w-]*/gi;
const tokens = /eyJ[\w-]{8,}[\w.-]*/g;

/** Makes a text from a request safe to store: short, without control characters and secrets of this service. */
export function ledgerText(text: string): string {
  const head = text.slice(0, 4 * longest).replace(/[\p{Cc}\p{Cs}\u2028\u2029]/gu, '');
  const open = head.replace(secrets, '$1…').replace(tokens, 'eyJ…');
  return cut(open);
}

/** The open part of a token of Unleash, as `default:production.…`; `undefined` for any other text. */
export function openPartOf(token: string): string | undefined {
  const open = openPart.exec(token)?.[0];
  return open === undefined || open === token ? undefined : `${open}…`;
}

/** Truncates a text without splitting a surrogate pair. */
function cut(text: string): string {
  if (text.length <= longest) return text;
  return `${text.slice(0, longest - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
