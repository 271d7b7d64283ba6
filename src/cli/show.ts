import { replaceActive } from '../contract/escaping.ts';

/** Characters that take two columns of a terminal: emoji, and the scripts of East Asia (Unicode TR 11). */
const wide =
  /\p{Emoji_Presentation}|\ufe0f|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]/u;

interface Heading {
  readonly title: string;
  /** True for numbers, which are aligned right. */
  readonly right?: true;
  /** True for text that may be truncated. */
  readonly cut?: true;
}

/** The terminal that a table is printed on. */
export interface Screen {
  readonly bold: boolean;
  /** Width in columns; unlimited if undefined. */
  readonly width: number | undefined;
}

interface Table {
  /** Lines of text, each with a line feed at its end. */
  readonly text: string;
  readonly leftOut: readonly string[];
}

let segmenter: Intl.Segmenter | undefined;

/** Splits a text into perceived characters. Few commands need the segmenter, so it is created on first use. */
function splitCharacters(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter();
  return segmenter.segment(text);
}

const minWidth = 10;
const gap = '  ';

/** Formats rows below their titles, in aligned columns, with no line wider than the screen. */
export function makeTable(headings: readonly Heading[], rows: readonly (readonly string[])[], screen: Screen): Table {
  const all = [headings.map(({ title }) => title), ...rows.map((row) => row.map(printable))];
  const widths = fitting(headings, measureColumns(all), screen.width ?? Number.POSITIVE_INFINITY);
  const [head = '', ...lines] = all.map((row) => formatLine(row, widths, headings));
  const text = [screen.bold ? `\u001b[1m${head}\u001b[0m` : head, ...lines].map((line) => `${line}\n`).join('');
  return { text, leftOut: headings.slice(widths.length).map(({ title }) => title) };
}

/** Formats values behind their labels, one per line, indented. */
export function recordText(fields: readonly (readonly [label: string, value: string])[]): string {
  const rows = fields.map((field) => field.map(printable));
  return rows.map((row) => `  ${formatLine(row, measureColumns(rows), [])}\n`).join('');
}

/** Returns column widths that fit. Drops columns from the end if necessary, and truncates the widest texts. */
function fitting(headings: readonly Heading[], natural: readonly number[], width: number): number[] {
  const least = natural.map((each, at) => (headings[at]?.cut ? Math.min(each, minWidth) : each));
  let count = natural.length;
  while (count > 1 && total(least.slice(0, count)) > width) count -= 1;
  const widths = natural.slice(0, count);
  for (let surplus = total(widths) - width; surplus > 0; surplus -= 1) {
    const widest = widths.reduce(
      (best, each, at) => (each > (least[at] ?? 0) && each > (widths[best] ?? 0) ? at : best),
      -1,
    );
    if (widest < 0) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}

function total(widths: readonly number[]): number {
  return widths.reduce((sum, each) => sum + each, 0) + gap.length * (widths.length - 1);
}

function measureColumns(rows: readonly (readonly string[])[]): number[] {
  return (rows[0] ?? []).map((_, column) =>
    rows.reduce((widest, row) => Math.max(widest, measureWidth(row[column] ?? '')), 0),
  );
}

function formatLine(row: readonly string[], widths: readonly number[], headings: readonly Heading[]): string {
  const cells = widths.map((width, column) => {
    const text = cutTo(row[column] ?? '', width);
    const room = ' '.repeat(width - measureWidth(text));
    return headings[column]?.right ? room + text : text + room;
  });
  return cells.join(gap).trimEnd();
}

function cutTo(text: string, width: number): string {
  if (measureWidth(text) <= width) return text;
  let kept = '';
  for (const { segment } of splitCharacters(text)) {
    if (measureWidth(kept + segment) >= width) break;
    kept += segment;
  }
  return `${kept}…`;
}

function measureWidth(text: string): number {
  if (/^[ -~]*$/.test(text)) return text.length;
  const widths = Array.from(splitCharacters(text), ({ segment }): number => (wide.test(segment) ? 2 : 1));
  return widths.reduce((sum, width) => sum + width, 0);
}

/** Makes a text from a server or a user safe for printing on one line of a terminal. */
export function printable(text: string): string {
  return replaceActive(text, () => '\ufffd');
}

/** Formats a value of the API for people. */
export function show(value: unknown): string {
  if (value === null || value === undefined || value === '') return '-';
  if (Array.isArray(value)) return value.length === 0 ? '-' : value.map(show).join(', ');
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'object') return show(summarizeValue(value));
  return String(value).replace(time, '$1 $2 UTC');
}

/** Returns the label of a field: `clientSecret` is "Client secret". */
export function formatLabel(field: string): string {
  return capital(field.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`));
}

export function capital(words: string): string {
  return `${words[0]?.toUpperCase()}${words.slice(1)}`;
}

/** RFC 3339 in UTC, to the second. */
const time = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?Z$/;

/** Nested objects are shown by name, warnings by code, and links by address. */
function summarizeValue(thing: object): unknown {
  const { name, code, url } = thing as Readonly<Record<string, unknown>>;
  return name ?? code ?? url ?? JSON.stringify(thing);
}
