/** Characters that the ledger keeps of a text that a stranger wrote. */
const longest = 200;

/** The marks of keys, secrets and tokens of this service, and of what they are made of enough to tell them by. */
const secrets = /(fm_[a-z]+_[0-9a-z]{0,6})[\w-]*/gi;
const tokens = /eyJ[\w-]{8,}[\w.-]*/g;

/**
 * A stranger's text as the ledger keeps it: short, without control characters, and with no secret of this service, should
 * somebody have put one there.
 */
export function ledgerText(text: string): string {
  const head = text.slice(0, 4 * longest).replace(/[\p{Cc}\p{Cs}\u2028\u2029]/gu, '');
  const open = head.replace(secrets, '$1…').replace(tokens, 'eyJ…');
  return cut(open);
}

/** At most the longest, and no half of a character at the end. */
function cut(text: string): string {
  if (text.length <= longest) return text;
  return `${text.slice(0, longest - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
