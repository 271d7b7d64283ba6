/** An occurrence of a name in a text. */
export interface Occurrence {
  readonly name: string;
  /** Index of the first character. */
  readonly index: number;
  /** `call`: the first argument of a function that takes a feature name. `quoted`: in quotes. `word`: elsewhere. */
  readonly as: 'call' | 'quoted' | 'word';
}

/** SDK functions whose first argument is a feature name. `--call` adds other functions. */
export const usualCalls = [
  ...['isEnabled', 'is_enabled', 'IsEnabled', 'isFeatureEnabled', 'is_feature_enabled', 'IsFeatureEnabled'],
  ...['isActive', 'getVariant', 'get_variant', 'GetVariant', 'variation', 'boolVariation', 'stringVariation'],
  ...['useFlag', 'useFeature', 'useFeatureFlag', 'useVariant', 'hasFeature', 'feature', 'featureFlag'],
  ...['getBooleanValue', 'get_boolean_value', 'getStringValue', 'get_string_value'],
];

/** Maximum length of a feature name. */
const maxBytes = 256;

const quotes = `"'\``;
const space = '\\s{0,100}';

/** Pattern of text in matching quotes. Its length is limited, so that a long line is not scanned repeatedly. */
const quotedName = `([${quotes}])((?:\\\\.|(?!\\1)[^\\\\\\r\\n]){1,${maxBytes}})\\1`;

/**
 * Finds feature names in source code. Finds known names as words or in quotes, and any name that is the first argument
 * of a call. The code is not parsed, so any language with quoted strings works, and names in comments are found, too.
 */
export class NameFinder {
  readonly #known: ReadonlySet<string>;
  /** Matches calls whose first argument is quoted text. The calls can have type arguments. */
  readonly #call: RegExp;
  /** Known names that are not words, such as names with a space. */
  readonly #phrases: readonly string[];
  readonly #maxLength: number;
  /** First characters of the known names. Most words begin with another character, and are skipped. */
  readonly #firsts: ReadonlySet<number>;

  constructor(known: ReadonlySet<string>, calls: Iterable<string>) {
    const names = [...known].filter((name) => name !== '');
    this.#known = known;
    const heads = Array.from(calls, escaped).join('|');
    this.#call = new RegExp(
      `(?<![\\p{L}\\p{N}_$])(?:${heads})${space}(?:<[^<>()]{0,60}>)?${space}\\(${space}${quotedName}`,
      'gu',
    );
    this.#phrases = names.filter((name) => !isNameCharacter(name, 0) || wordEnd(name, 0) !== name.length);
    this.#maxLength = names.reduce((most, { length }) => Math.max(most, length), 0);
    this.#firsts = new Set(names.map((name) => name.charCodeAt(0)));
  }

  /** Yields occurrences, not sorted by position. A known name in a call occurs twice, first as the call. */
  *in(text: string): Generator<Occurrence> {
    for (const { index, 0: whole, 2: name = '' } of text.matchAll(this.#call)) {
      if (isPlain(name)) yield { name, index: index + whole.length - 1 - name.length, as: 'call' };
    }
    for (let at = wordStart(text, 0); at < text.length; ) {
      const end = wordEnd(text, at);
      yield* this.#inWord(text, at, end);
      at = wordStart(text, end);
    }
    for (const name of this.#phrases) yield* findPlaces(name, text);
  }

  /** Yields the known names that a word contains. For example, `flags.shop.checkout` contains `shop.checkout`. */
  *#inWord(text: string, start: number, end: number): Generator<Occurrence> {
    for (let from = start; from < end; from = findNameEnd(text, from) + 1) {
      if (!this.#firsts.has(text.charCodeAt(from))) continue;
      for (let to = findNameEnd(text, from); to <= end && to - from <= this.#maxLength; ) {
        const name = text.slice(from, to);
        if (this.#known.has(name)) yield occurrence(name, from, text);
        to = to === end ? end + 1 : findNameEnd(text, to + 1);
      }
    }
  }
}

function* findPlaces(name: string, text: string): Generator<Occurrence> {
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + name.length)) {
    const end = at + name.length;
    const goesOn = isNameCharacter(text, at - 1) && isNameCharacter(text, at);
    if (!goesOn && !(isNameCharacter(text, end - 1) && isNameCharacter(text, end))) yield occurrence(name, at, text);
  }
}

function occurrence(name: string, index: number, text: string): Occurrence {
  const before = text.charAt(index - 1);
  const isQuoted = before !== '' && quotes.includes(before) && text.charAt(index + name.length) === before;
  return { name, index, as: isQuoted ? 'quoted' : 'word' };
}

/** Returns the start of the next word, or the end of the text. */
function wordStart(text: string, from: number): number {
  let at = from;
  while (at < text.length && !isNameCharacter(text, at)) at += 1;
  return at;
}

/** Returns the end of a word. A word consists of names separated by a dot, a colon or a slash. */
function wordEnd(text: string, start: number): number {
  let end = findNameEnd(text, start);
  while (isSeparator(text.charCodeAt(end)) && isNameCharacter(text, end + 1)) end = findNameEnd(text, end + 1);
  return end;
}

function findNameEnd(text: string, start: number): number {
  let at = start;
  while (isNameCharacter(text, at)) at += 1;
  return at;
}

const dot = 0x2e;
const slash = 0x2f;
const colon = 0x3a;

function isSeparator(code: number): boolean {
  return code === dot || code === slash || code === colon;
}

/** ASCII characters of names: letters, digits, `_`, `$` and `-`. */
const asciiNameCharacters = Uint8Array.from({ length: 128 }, (_, code) =>
  /[\w$-]/.test(String.fromCharCode(code)) ? 1 : 0,
);

/** Other characters of names. Half of a surrogate pair counts as a letter, so that a name cannot end within a pair. */
const otherNameCharacter = /[\p{L}\p{N}\p{Cs}]/u;

function isNameCharacter(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code < 128 ? asciiNameCharacters[code] === 1 : code >= 128 && otherNameCharacter.test(text.charAt(at));
}

function escaped(name: string): string {
  return name.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&');
}

/** True if quoted text is a literal name, without an escape or a placeholder. */
function isPlain(name: string): boolean {
  return Buffer.byteLength(name) <= maxBytes && !/[\\\p{Cc}]|\$\{|\{\{/u.test(name);
}
