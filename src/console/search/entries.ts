import { nearest } from '../../contract/nearest.ts';
import { byRank, rankName, searchWords } from '../../contract/search-rank.ts';

/** Kinds of results. Results of equal rank are in this order. */
export const kinds = {
  recent: 'Recent',
  similar: 'Did you mean',
  page: 'Page',
  application: 'Application',
  feature: 'Flag',
  key: 'Key',
  sender: 'Sender',
  origin: 'Origin',
  user: 'User',
  setting: 'Settings',
  action: 'Action',
  docs: 'Docs',
  person: 'People',
} as const;

type Kind = keyof typeof kinds;

/** A search result: a page with an address, or an action. */
export interface Entry {
  readonly kind: Kind;
  readonly title: string;
  /** Context of the entry: the name of an application, or of a page of the docs. */
  readonly detail?: string;
  readonly words?: string;
  readonly href?: string;
  readonly run?: () => void;
}

export const mostShown = 30;

const order = Object.keys(kinds);

/** Returns the entries that contain all words of a text, the best first. Each address occurs only once. */
export function ranked(entries: readonly Entry[], text: string): Entry[] {
  const words = searchWords(text);
  const found = entries.flatMap((entry) => {
    const rank = rankIn(entry, words);
    return rank === undefined ? [] : [{ entry, name: entry.title, rank }];
  });
  found.sort((a, b) => a.rank - b.rank || order.indexOf(a.entry.kind) - order.indexOf(b.entry.kind) || byRank(a, b));
  return unique(found.map(({ entry }) => entry)).slice(0, mostShown);
}

/** Returns the rank of an entry. Matches in the title come before matches in the additional words of an entry. */
function rankIn({ title, detail = '', words = '', kind }: Entry, wanted: readonly string[]): number | undefined {
  if (kind === 'person') return Number.POSITIVE_INFINITY;
  const byTitle = rankName(title, wanted);
  if (byTitle !== undefined) return byTitle;
  const byAll = rankName(`${title} ${detail} ${words}`, wanted);
  return byAll === undefined ? undefined : 4;
}

/** Returns the entry with the most similar title, if any. */
export function findSimilar(entries: readonly Entry[], text: string): Entry[] {
  const title = nearest(
    text,
    entries.map((entry) => entry.title),
  );
  const found = entries.find((entry) => entry.title === title);
  return found === undefined ? [] : [{ ...found, kind: 'similar' }];
}

/** Omits entries with the same address as an earlier entry. */
export function unique(entries: readonly Entry[]): Entry[] {
  const known = new Set<string>();
  return entries.filter(({ href }) => {
    if (href === undefined) return true;
    const isNew = !known.has(href);
    known.add(href);
    return isNew;
  });
}

/** Returns the text that is sent to the server. Of a key, only the prefix is sent: the rest is secret. */
export function sentText(text: string): string {
  return text
    .trim()
    .replace(/\b(fm_[a-z]{2}_[0-9a-zA-Z]{6})[0-9a-zA-Z]+/g, '$1')
    .slice(0, 200);
}
