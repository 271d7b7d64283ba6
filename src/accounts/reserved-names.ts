import { Refusal } from '../contract/errors.ts';

/** Name of this service as its pages, console and command line show it. */
const ours = 'flagmeter';
/** Matches the name of the service. In most fonts, "rn" looks like "m". */
const likeOurs = /flag(?:m|rn)eter/;

/** Look-alikes of the letters in the name of this service. Unicode normalisation replaces other look-alikes. */
const lookAlikes: Readonly<Record<string, string>> = {
  f: 'ƒꞙϝ',
  l: 'iıɩιіӏⅼ1|!ǀƖł',
  a: 'аαɑ4@',
  g: 'ɡɢցƍ9q',
  m: 'мʍϻ',
  e: 'еєεɛҽ3',
  t: 'тτҭ7+†',
  r: 'гɾʀᴦ',
};

const folded = new Map(
  Object.entries(lookAlikes).flatMap(([letter, others]) => Array.from(others, (other) => [other, letter])),
);

/**
 * Reduces a name to its appearance: drops case, accents, spaces, punctuation and invisible characters, and replaces
 * look-alikes. Only look-alikes of letters in `flagmeter` are replaced, unlike in the skeleton of Unicode's UTS #39.
 */
function computeSkeleton(name: string): string {
  const plain = name.normalize('NFKD').toLowerCase();
  const letters = Array.from(plain, (character) => folded.get(character) ?? character).join('');
  return letters.replace(/[^\p{L}\p{N}]/gu, '');
}

/** True if a name could be mistaken for the name of the service. */
export function resemblesOurs(name: string): boolean {
  return likeOurs.test(computeSkeleton(name));
}

export const reservedName = `The name of a sign-in client must not resemble ${ours}, the name of this service`;

/**
 * Checks that the name of a client does not pose as the console. The sign-in page shows this name.
 * @throws {Refusal} `invalid_name`
 */
export function checkNotOurs(name: string): void {
  if (resemblesOurs(name)) throw new Refusal('invalid_name', reservedName);
}
