/** An occurrence of a name in a text. */
export interface Occurrence {
  readonly name: string;
  /** Index of the first character. */
  readonly index: number;
  /** `call`: the first argument of a function that takes a feature name. */
  readonly as: 'call' | 'quoted' | 'word';
}

/** SDK functions whose first argument is a feature name. `--call` adds others. */
export const usualCalls = [
  ...['isEnabled', 'is_enabled', 'IsEnabled', 'isFeatureEnabled', 'is_feature_enabled', 'IsFeatureEnabled'],
  ...['isActive', 'getVariant', 'get_variant', 'GetVariant', 'variation', 'boolVariation', 'stringVariation'],
  ...['useFlag', 'useFeature', 'useFeatureFlag', 'useVariant', 'hasFeature', 'feature', 'featureFlag'],
  ...['getBooleanValue', 'get_boolean_value', 'getStringValue', 'get_string_value'],
];

/** Maximum size of a feature name. */
const maxBytes = 256;

const quotes = `"'\``;
const space = '\\s{0,100}';

/** Text in matching quotes. It is bounded, so that a long line is not scanned repeatedly. */
const quotedName = `([${quotes}])((?:\\\\.|(?!\\1)[^\\\\\\r\\n]){1,${maxBytes}})\\1`;

/**
 * Finds feature names in source code: known names as words or in quotes, and any name that is the first argument of a
 * call. Does not parse, so it works for any language with quoted strings, and comments count too.
 */
export class NameFinder {
  readonly #known: ReadonlySet<string>;
  /** Calls with a quoted text as their first argument, also with type arguments. */
  readonly #call: RegExp;
  /** Known names that are not words, such as names with a space. */
  readonly #phrases: readonly string[];
  readonly #maxLength: number;
  /** First characters of the known names, which rule out most words. */
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

  /** Yields occurrences in no order. A known name in a call occurs twice; the call comes first. */
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

  /** Yields the known names in a word: `flags.shop.checkout` names `checkout`, and `shop.checkout`. */
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

/** Returns the end of a word, whose parts are separated by a dot, a colon or a slash. */
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

/** Name characters of ASCII: letters, digits, `_`, `$` and `-`. */
const asciiNameCharacters = Uint8Array.from({ length: 128 }, (_, code) =>
  /[\w$-]/.test(String.fromCharCode(code)) ? 1 : 0,
);

/** Other name characters. Half of a surrogate pair counts as a letter, so that no name ends within a pair. */
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
