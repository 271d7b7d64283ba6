import { maxEntries, tooManyEntries } from '../grpc/entry-limit.ts';

/** Maximum digits of an integer, far more than any hash has. */
const maxDigits = 256;

const decimal = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d{1,4}))?$/i;

/**
 * Converts an integer to its canonical spelling: `-12`, no leading zeros, no exponent, no minus before zero.
 * @param spelled a decimal number in any spelling: `007`, `1e3`, `1.0`
 * @returns `undefined` if the number is not an integer, or has more than 256 digits
 */
export function canonicalInteger(spelled: string): string | undefined {
  const found = decimal.exec(spelled);
  if (found === null) return undefined;
  const [, sign, whole = '', fraction = '', exponent = '0'] = found;
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  if (digits === '') return '0';
  const point = digits.length - fraction.length + Number(exponent);
  if (point < 1 || point > maxDigits || /[1-9]/.test(digits.slice(point))) return undefined;
  return `${sign}${digits.slice(0, point).padEnd(point, '0')}`;
}

/**
 * Quotes every number in a JSON text that a double might not represent exactly, so that `JSON.parse` keeps its digits.
 * @param text valid JSON, because an invalid text could become valid
 */
export function quoteLargeNumbers(text: string): string {
  const parts: string[] = [];
  let taken = 0;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]!;
    if (character === '"') at = endOfString(text, at);
    else if (character === '-' || (character >= '0' && character <= '9')) {
      const end = endOfNumber(text, at);
      if (!(Math.abs(Number(text.slice(at, end))) <= Number.MAX_SAFE_INTEGER)) {
        parts.push(text.slice(taken, at), '"', text.slice(at, end), '"');
        taken = end;
      }
      at = end - 1;
    }
  }
  parts.push(text.slice(taken));
  return parts.join('');
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at;
}

function endOfNumber(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && '0123456789.eE+-'.includes(text[at]!)) at += 1;
  return at;
}

const quote = 0x22;
const backslash = 0x5c;
const openBracket = 0x5b;
const openBrace = 0x7b;

/**
 * Counts the objects and lists of a JSON text before it is parsed. After `JSON.parse`, an empty object takes a hundred
 * times the memory of its text.
 * @throws {Refusal} `body_too_large` if there are more objects and lists than the size allows
 */
export function checkJsonEntries(text: Uint8Array): void {
  let left = maxEntries('json', text.length);
  if (text.length <= left) return;
  for (let at = 0; at < text.length; at += 1) {
    const byte = text[at]!;
    if (byte === quote) at = endOfEncodedString(text, at);
    else if (byte === openBrace || byte === openBracket) {
      left -= 1;
      if (left < 0) throw tooManyEntries;
    }
  }
}

function endOfEncodedString(text: Uint8Array, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === quote) return at;
    if (text[at] === backslash) at += 1;
  }
  return text.length;
}

/** Maximum number of characters read from a string: enough for 256 escaped characters. */
const longestText = 6 * 256;

const beginningBytes = 4096;

/** Returns the beginning of a body, which is searched for the sender. SDKs write the key first. */
export function cutBeginning(body: Uint8Array): Uint8Array {
  return body.subarray(0, beginningBytes);
}

/**
 * Creates a function that extracts a few string fields from a JSON body without parsing it. It works on truncated and
 * malformed bodies, and also finds nested fields of these names. Use it only for the ledger and for rate limits of
 * large bodies. It runs in linear time.
 */
export function createPeeker<Name extends string>(...names: readonly Name[]) {
  const text = `"(?:[^"\\\\]|\\\\.){0,${longestText}}"`;
  const pattern = new RegExp(`"(${names.join('|')})"\\s*:\\s*(${text})`, 'g');
  return (body: Uint8Array): { readonly [Each in Name]?: string } => {
    const found = new Map<string, string>();
    for (const [, name = '', json = ''] of Buffer.from(body).toString().matchAll(pattern)) {
      const value = unquote(json);
      if (value !== undefined && !found.has(name)) found.set(name, value);
      if (found.size === names.length) break;
    }
    return Object.fromEntries(found) as { [Each in Name]?: string };
  };
}

function unquote(json: string): string | undefined {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
