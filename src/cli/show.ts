import { replaceActive } from '../contract/escaping.ts';

/** A text of a server or a user, safe to print to a terminal, on one line. */
export function printable(text: string): string {
  return replaceActive(text, () => '\ufffd');
}

/** A value of the API as text for people. */
export function show(value: unknown): string {
  if (value === null || value === undefined || value === '') return '-';
  if (Array.isArray(value)) return value.length === 0 ? '-' : value.map(show).join(', ');
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'object') return show(nameOf(value));
  return String(value).replace(time, '$1 $2 UTC');
}

/** The label of a field: `clientSecret` is "Client secret". */
export function labelOf(field: string): string {
  return capital(field.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`));
}

/** With a capital letter. */
export function capital(words: string): string {
  return `${words[0]?.toUpperCase()}${words.slice(1)}`;
}

/** RFC 3339 in UTC, to the second. */
const time = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?Z$/;

/** Nested objects are shown by name, warnings by code, and links by address. */
function nameOf(thing: object): unknown {
  const { name, code, url } = thing as Readonly<Record<string, unknown>>;
  return name ?? code ?? url ?? JSON.stringify(thing);
}
