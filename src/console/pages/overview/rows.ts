import type { OverviewFeature } from '../../../contract/shapes/overview.ts';
import { isMine, type Me } from '../../../contract/shapes/owned.ts';
import { getShownState, type State } from './states.ts';

export interface Filter {
  readonly search: string;
  readonly state: State | undefined;
  /** The reader, for `owner:me`. */
  readonly me?: Me | undefined;
}

/**
 * Returns the flags in a state that match all words of the search: parts of the name, `owner:ada`, `owner:me`,
 * `owner:none`, `tag:shop` and `tag:none`. A value with spaces is in quotes.
 */
export function filterRows(features: readonly OverviewFeature[], { search, state, me }: Filter): OverviewFeature[] {
  const tests = parseWords(search).map((word) => createTest(word, me));
  return features.filter(
    (row) => tests.every((test) => test(row)) && (state === undefined || getShownState(row) === state),
  );
}

interface Word {
  readonly key: string | undefined;
  readonly text: string;
}

/** Splits a search into words in lower case, each with its filter, if any. */
function parseWords(search: string): readonly Word[] {
  const found = search.toLowerCase().matchAll(/(owner|tag):(?:"([^"]*)"?|(\S*))|\S+/g);
  return Array.from(found, ([whole, key, quoted, bare]) => ({ key, text: quoted ?? bare ?? whole }));
}

type Test = (row: OverviewFeature) => boolean;

function createTest({ key, text }: Word, me: Me | undefined): Test {
  if (key === undefined) return ({ feature }) => feature.toLowerCase().includes(text);
  if (key === 'tag') {
    if (text === 'none') return ({ tags }) => tags.length === 0;
    return ({ tags }) => text === '' || tags.some((tag) => tag.toLowerCase().startsWith(text));
  }
  if (text === 'none') return ({ owners }) => owners.length === 0;
  if (text === 'me' && me !== undefined) return (row) => isMine(row, me);
  return ({ owners }) => text === '' || owners.some(({ name }) => name.toLowerCase().includes(text));
}

export function searchWord(key: 'owner' | 'tag', value: string): string {
  return `${key}:${/\s/.test(value) ? `"${value.replaceAll('"', '')}"` : value}`;
}

/**
 * Sorts rows by an earlier order. New rows come last.
 * @param before keys in the earlier order
 */
export function holdOrder<Row>(
  rows: readonly Row[],
  getKey: (row: Row) => string,
  before: readonly string[],
): readonly Row[] {
  const places = new Map(before.map((key, index) => [key, index]));
  const place = (row: Row) => places.get(getKey(row)) ?? places.size;
  return [...rows].sort((one, other) => place(one) - place(other));
}
