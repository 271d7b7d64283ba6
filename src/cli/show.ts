import { replaceActive } from '../contract/escaping.ts';
import { peopleNumbers } from '../contract/numbers.ts';
import { relativeTimes } from '../contract/time-formats.ts';

/** Characters that take two columns of a terminal: emoji, and the scripts of East Asia (Unicode TR 11). */
const wide =
  /\p{Emoji_Presentation}|\ufe0f|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]/u;

interface Heading {
  readonly title: string;
  /** True for numbers, which are aligned right. */
  readonly right?: true;
  /** True for text that may be truncated; `last` for a name, which is truncated last. */
  readonly cut?: true | 'last';
  /** True for a state, which is shown in a colour. */
  readonly state?: true;
  /** True for an id, which is omitted where space is short. */
  readonly id?: true;
}

/** The terminal that a table is printed on. */
export interface Screen {
  /** True for bold titles and coloured states. */
  readonly styled: boolean;
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

/** Minimum widths of truncated columns. */
const minNameWidth = 30;
const minWidth = 12;
const gap = '  ';

/** Formats rows below their titles, in aligned columns, with no line wider than the screen. */
export function makeTable(headings: readonly Heading[], rows: readonly (readonly string[])[], screen: Screen): Table {
  const all = [headings.map(({ title }) => title), ...rows.map((row) => row.map(printable))];
  const { columns, leftOut } = chooseColumns(headings, all, screen.width ?? Number.POSITIVE_INFINITY);
  const states = screen.styled ? columns.map(({ heading }) => heading.state === true) : [];
  for (const { at, width } of columns) {
    const texts = all.map((row) => row[at] ?? '');
    for (const [line, text] of cutTexts(texts, width).entries()) all[line]![at] = text;
  }
  const [head = '', ...lines] = all.map((row, at) => formatLine(row, columns, at === 0 ? [] : states));
  const text = [screen.styled ? styleText(1, head) : head, ...lines].map((line) => `${line}\n`).join('');
  return { text, leftOut: leftOut.map(({ title }) => title) };
}

/** Formats values behind their labels, one per line, indented. */
export function recordText(fields: readonly (readonly [label: string, value: string])[]): string {
  const rows = fields.map((field) => field.map(printable));
  const columns = [0, 1].map((at) => ({ at, heading: { title: '' }, width: measureColumn(rows, at) }));
  return rows.map((row) => `  ${formatLine(row, columns)}\n`).join('');
}

/** A column that is printed. */
interface ShownColumn {
  /** Index in the rows. */
  readonly at: number;
  readonly heading: Heading;
  readonly width: number;
}

/**
 * Returns the columns that fit, with their widths. If the texts do not fit, columns without values are omitted first,
 * then ids, and then the last columns. The widest remaining texts are truncated.
 * @param rows the titles, and the rows
 */
function chooseColumns(
  headings: readonly Heading[],
  rows: readonly (readonly string[])[],
  room: number,
): { readonly columns: readonly ShownColumn[]; readonly leftOut: readonly Heading[] } {
  let columns = headings.map((heading, at): ShownColumn => ({ heading, at, width: measureColumn(rows, at) }));
  const leftOut: Heading[] = [];
  if (total(columns) > room) {
    const isEmpty = ({ at }: ShownColumn) =>
      rows.length > 1 && rows.every((row, index) => index === 0 || row[at] === '-');
    columns = columns.filter((column) => !isEmpty(column));
  }
  if (total(columns) > room) {
    leftOut.push(...columns.filter(({ heading }) => heading.id).map(({ heading }) => heading));
    columns = columns.filter(({ heading }) => !heading.id);
  }
  const least = ({ heading: { cut }, width }: ShownColumn) =>
    cut ? Math.min(width, cut === 'last' ? minNameWidth : minWidth) : width;
  const dropped: Heading[] = [];
  while (columns.length > 1 && total(columns.map((column) => ({ width: least(column) }))) > room)
    dropped.unshift(columns.pop()!.heading);
  return { columns: truncate(columns, columns.map(least), room), leftOut: [...dropped, ...leftOut] };
}

/** Narrows the widest columns until they fit, but no column below its minimum width. */
function truncate(columns: readonly ShownColumn[], least: readonly number[], room: number): readonly ShownColumn[] {
  const widths = columns.map(({ width }) => width);
  for (let surplus = total(columns) - room; surplus > 0; surplus -= 1) {
    const widest = widths.reduce(
      (best, each, at) => (each > (least[at] ?? 0) && each > (widths[best] ?? 0) ? at : best),
      -1,
    );
    if (widest < 0) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return columns.map((column, at) => ({ ...column, width: widths[at] ?? 0 }));
}

function total(columns: readonly { readonly width: number }[]): number {
  return columns.reduce((sum, { width }) => sum + width, 0) + gap.length * (columns.length - 1);
}

function measureColumn(rows: readonly (readonly string[])[], at: number): number {
  return rows.reduce((widest, row) => Math.max(widest, measureWidth(row[at] ?? '')), 0);
}

/** @param row texts that fit the columns @param states true for each column that shows a state in a colour */
function formatLine(row: readonly string[], columns: readonly ShownColumn[], states: readonly boolean[] = []): string {
  const cells = columns.map(({ at, heading, width }, index) => {
    const text = row[at] ?? '';
    const room = ' '.repeat(width - measureWidth(text));
    const shown = states[index] ? colourState(text) : text;
    return heading.right ? room + shown : shown + room;
  });
  return cells.join(gap).trimEnd();
}

/** Colours of states by their first words, as codes of ISO 6429: red, yellow and green. */
const stateColours = [
  [31, /^(urgent|failing|failed|leaked|worse|disabled: failed|archived-but-asked)/],
  [33, /^(warning|disabled|pending|weak|not |stopped|only seen|one-variant|cannot-tell|not-seen|never seen)/],
  [32, /^(enabled|running|delivered|better|declared|safe-to-remove|in-use)/],
] as const;

function colourState(text: string): string {
  const [code] = stateColours.find(([, pattern]) => pattern.test(text)) ?? [];
  return code === undefined ? text : styleText(code, text);
}

function styleText(code: number, text: string): string {
  return `\u001b[${code}m${text}\u001b[0m`;
}

/** Truncates the texts of a column. Texts that would then look equal are truncated in the middle, others at the end. */
function cutTexts(texts: readonly string[], width: number): readonly string[] {
  const cut = texts.map((text) => cutTo(text, width));
  return texts.map((text, at) => {
    if (cut[at] === text) return text;
    const others = texts.filter((other, index) => cut[index] === cut[at] && other !== text);
    return others.length === 0 ? cut[at]! : cutMiddle(text, others, width);
  });
}

/** Truncates a text in its middle, before the first character that differs from all other texts. */
function cutMiddle(text: string, others: readonly string[], width: number): string {
  const head = cutTo(text, Math.ceil(width / 3));
  const room = width - measureWidth(head);
  const characters = Array.from(text);
  const rest = (from: number) => characters.slice(from).join('');
  let start = characters.length;
  while (others.some((other) => !other.startsWith(characters.slice(0, start).join('')))) start -= 1;
  while (measureWidth(rest(start - 1)) <= room) start -= 1;
  return head + cutTo(rest(start), room);
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

/** Formats a value of the API as text. `showTime` formats a time in RFC 3339; by default it stays absolute. */
export function show(value: unknown, showTime: (at: string) => string = showAbsolute): string {
  const inner = (each: unknown) => show(each, showTime);
  if (value === null || value === undefined || value === '') return '-';
  if (Array.isArray(value)) return value.length === 0 ? '-' : joinTexts(value.map(inner));
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'object') return summarizeValue(value, inner);
  const text = String(value);
  return time.test(text) ? showTime(text) : text;
}

/** Joins texts by commas, or by semicolons if a text contains commas. */
function joinTexts(texts: readonly string[]): string {
  return texts.join(texts.some((text) => text.includes(', ')) ? '; ' : ', ');
}

function showAbsolute(at: string): string {
  return at.replace(time, '$1 $2 UTC');
}

const relative = relativeTimes('en-GB', 'short');

/** Formats a time as a person at a terminal reads it: `2 min ago`, or the UTC day. @param now Unix ms */
export function showRelative(at: string, now: number): string {
  return relative(Date.parse(at), now) ?? at.slice(0, 10);
}

/** Formats a time, and its distance from now if it is less than two weeks away. @param now Unix ms */
export function showBoth(at: string, now: number): string {
  const distance = relative(Date.parse(at), now);
  return distance === undefined ? showAbsolute(at) : `${showAbsolute(at)} (${distance})`;
}

const numbers = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 6 });
const people = peopleNumbers('en-GB');

/** Formats a number in a text for people: `1,234`. */
export function showNumber(value: number): string {
  return numbers.format(value);
}

/** Formats the cell of a table on a terminal. Tables in pipes and files contain the plain values. @param now Unix ms */
export function showForPerson(value: unknown, { right, people: isPeople }: CellKind, now: number): string {
  if (typeof value === 'number' && isPeople) return people(value);
  if (typeof value === 'number' && right) return showNumber(value);
  return show(value, (at) => showRelative(at, now));
}

interface CellKind {
  readonly right?: true;
  readonly people?: true;
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

/** Formats a nested object: by its name, code (warnings) or URL (links), or else by its fields. */
function summarizeValue(thing: object, showField: (value: unknown) => string): string {
  const { name, code, url } = thing as Readonly<Record<string, unknown>>;
  const known = name ?? code ?? url;
  if (known !== undefined && known !== null) return showField(known);
  const fields = Object.entries(thing).map(([field, value]) => [formatLabel(field).toLowerCase(), showField(value)]);
  const given = fields.filter(([, text]) => text !== '-');
  return given.length === 0 ? '-' : given.map((words) => words.join(' ')).join(', ');
}
