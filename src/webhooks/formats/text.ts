import { replaceActive } from '../../contract/active-characters.ts';
import type { Words } from '../../contract/words.ts';

/** How a format writes own words and the texts of others. */
export interface Writing {
  readonly own: (text: string) => string;
  readonly name: (text: string) => string;
}

/** Maximum characters of a text of others. The page that a message links to has the whole text. */
const mostInSentence = 160;
const mostInFact = 400;

export function sentenceIn({ own, name }: Writing, words: Words): string {
  return words
    .map((part) => (typeof part === 'string' ? own(part) : name(safe(part.name, mostInSentence))))
    .join('');
}

export function factIn({ own, name }: Writing, words: Words): string {
  return words
    .map((part) => (typeof part === 'string' ? own(part) : name(safe(part.name, mostInFact))))
    .join('');
}

/** Lines of at most this many characters together. Lines that do not fit are left out. */
export function fitting(lines: readonly string[], most: number): string {
  let left = most + 1;
  const shown = lines.filter(({ length }) => {
    const fits = length < left;
    if (fits) left -= length + 1;
    return fits;
  });
  return shown.join('\n');
}

export function clipped(text: string, most: number): string {
  const characters = Array.from(text);
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join('')}…`;
}

/** Without characters that break lines, control a terminal or change the direction of text. */
function safe(text: string, most: number): string {
  return clipped(
    replaceActive(text, () => '\ufffd'),
    most,
  );
}

export const plain: Writing = { own: (text) => text, name: (text) => text };
