/**
 * The `for` of each element of `Forwarded` (RFC 7239), last first. An element without one, or a malformed one, yields
 * `undefined` and ends the search.
 *
 * The header is parsed from its end, because its beginning may come from a client. Parsed from there, an unclosed quote would
 * swallow the elements added by proxies.
 */
export function* forwardedNodes(text: string): Generator<string | undefined, void, void> {
  for (let end = text.length; end >= 0; ) {
    const element = elementBefore(text, end);
    if (element === undefined) return yield undefined;
    if (!element.isEmpty) yield element.node;
    if (!element.isEmpty && element.node === undefined) return;
    end = element.start - 1;
  }
}

interface Element {
  /** Its start: 0, or after a comma. */
  readonly start: number;
  readonly isEmpty: boolean;
  readonly node: string | undefined;
}

function elementBefore(text: string, end: number): Element | undefined {
  let node: string | undefined;
  let isEmpty = true;
  for (let at = beforeBlanks(text, end); ; at = beforeBlanks(text, at)) {
    if (at === 0 || text[at - 1] === ',') return { start: at, isEmpty, node };
    if (text[at - 1] === ';') {
      at -= 1;
      continue;
    }
    const pair = pairBefore(text, at);
    if (pair === undefined || (pair.name === 'for' && node !== undefined)) return undefined;
    if (pair.name === 'for') node = pair.value;
    isEmpty = false;
    at = beforeBlanks(text, pair.start);
    if (at > 0 && text[at - 1] !== ',' && text[at - 1] !== ';') return undefined;
  }
}

interface Pair {
  readonly start: number;
  readonly name: string;
  readonly value: string;
}

function pairBefore(text: string, end: number): Pair | undefined {
  const isQuoted = text[end - 1] === '"';
  const from = isQuoted ? quoteBefore(text, end - 1) : wordStart(text, end);
  if (from === undefined || from === end || text[from - 1] !== '=') return undefined;
  const start = wordStart(text, from - 1);
  if (start === from - 1) return undefined;
  const value = isQuoted ? text.slice(from + 1, end - 1).replace(/\\(.)/gs, '$1') : text.slice(from, end);
  return { start, name: text.slice(start, from - 1).toLowerCase(), value };
}

function quoteBefore(text: string, close: number): number | undefined {
  if (isEscaped(text, close)) return undefined;
  for (let at = close - 1; at >= 0; at -= 1) if (text[at] === '"' && !isEscaped(text, at)) return at;
  return undefined;
}

function isEscaped(text: string, at: number): boolean {
  let slashes = 0;
  while (text[at - 1 - slashes] === '\\') slashes += 1;
  return slashes % 2 === 1;
}

/** Token characters and a few more: some proxies omit the quotes around an address with a port. */
const inWord = /[^\s",;=\\]/;

function wordStart(text: string, end: number): number {
  let start = end;
  while (start > 0 && inWord.test(text[start - 1]!)) start -= 1;
  return start;
}

function beforeBlanks(text: string, end: number): number {
  let at = end;
  while (at > 0 && (text[at - 1] === ' ' || text[at - 1] === '\t')) at -= 1;
  return at;
}

/**
 * The entries of `X-Forwarded-For`, last first. Each proxy appends one. Entries sent by a client can only be to the left of the
 * first one that is not a proxy's.
 */
export function* forwardedForNodes(text: string): Generator<string, void, void> {
  let end = text.length;
  while (end >= 0) {
    const comma = end === 0 ? -1 : text.lastIndexOf(',', end - 1);
    const entry = text.slice(comma + 1, end).trim();
    if (entry !== '') yield entry;
    end = comma;
  }
}
