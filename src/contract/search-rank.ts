/*
 * The order of search results, on the server and in the console: names that begin with the searched text, then names
 * with a word that begins with the text, then names that contain the text.
 */

/** Returns the distinct words of a search. A name must contain all of them. */
export function searchWords(text: string): string[] {
  return [...new Set(text.toLowerCase().split(/\s+/).filter(Boolean))];
}

/**
 * Ranks how well a name matches a text. The rank is 0 for equality, 1 for a name that begins with the text, 2 for a word
 * of the name that begins with the text, and 3 for any other match. Returns `undefined` if the name does not contain all words.
 */
export function rankName(name: string, words: readonly string[]): number | undefined {
  const text = name.toLowerCase();
  if (words.length === 1 && text === words[0]) return 0;
  let rank = 0;
  for (const word of words) {
    const at = text.indexOf(word);
    if (at < 0) return undefined;
    if (rank < 3) rank = Math.max(rank, at === 0 ? 1 : startsWord(name, text, word, at) ? 2 : 3);
  }
  return rank;
}

/** True if a text starts a word: at a capital letter, or after a character that is neither a letter nor a digit. */
function startsWord(name: string, text: string, word: string, first: number): boolean {
  for (let at = first; at >= 0; at = text.indexOf(word, at + 1))
    if (/[^\p{L}\p{N}]/u.test(text[at - 1]!) || /\p{Lu}/u.test(name[at] ?? '')) return true;
  return false;
}

export interface RankedName {
  readonly name: string;
  readonly rank: number;
}

/** Compares names by rank, then by length. Shorter names come first. */
export function byRank(a: RankedName, b: RankedName): number {
  return a.rank - b.rank || a.name.length - b.name.length || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
}
