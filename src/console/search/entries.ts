import { byRank, rankName, searchWords } from '../../contract/search-rank.ts';

/** What a result is, in the order among equals. */
export const kinds = {
  recent: 'Recent',
  page: 'Page',
  application: 'Application',
  feature: 'Flag',
  key: 'Key',
  user: 'User',
  setting: 'Settings',
  action: 'Action',
  docs: 'Docs',
  person: 'People',
} as const;

type Kind = keyof typeof kinds;

/** Something that can be chosen: a page with an address, or an action. */
export interface Entry {
  readonly kind: Kind;
  readonly title: string;
  /** Where it belongs: the name of an application, or the page of the docs. */
  readonly detail?: string;
  readonly words?: string;
  readonly href?: string;
  readonly run?: () => void;
}

export const mostShown = 30;

const order = Object.keys(kinds);

/** The entries that contain all words of a text, the best first. An entry with the same address is shown once. */
export function ranked(entries: readonly Entry[], text: string): Entry[] {
  const words = searchWords(text);
  const found = entries.flatMap((entry) => {
    const rank = rankIn(entry, words);
    return rank === undefined ? [] : [{ entry, name: entry.title, rank }];
  });
  found.sort((a, b) => a.rank - b.rank || order.indexOf(a.entry.kind) - order.indexOf(b.entry.kind) || byRank(a, b));
  return unique(found.map(({ entry }) => entry)).slice(0, mostShown);
}

/** A text that is found only with the further words comes after those found by their titles. */
function rankIn({ title, detail = '', words = '', kind }: Entry, wanted: readonly string[]): number | undefined {
  if (kind === 'person') return Number.POSITIVE_INFINITY;
  const byTitle = rankName(title, wanted);
  if (byTitle !== undefined) return byTitle;
  const byAll = rankName(`${title} ${detail} ${words}`, wanted);
  return byAll === undefined ? undefined : 4;
}

/** Without entries that lead to the same address as an earlier one. */
export function unique(entries: readonly Entry[]): Entry[] {
  const known = new Set<string>();
  return entries.filter(({ href }) => {
    if (href === undefined) return true;
    const isNew = !known.has(href);
    known.add(href);
    return isNew;
  });
}

/**
 * The text as it is sent to the server. The rest of a key is a secret, and a prefix finds it.
 */
export function sentText(text: string): string {
  return text
    .trim()
    .replace(/\b(fm_[a-z]{2}_[0-9a-zA-Z]{6})[0-9a-zA-Z]+/g, '$1')
    .slice(0, 200);
}
