import { plain } from './plain.ts';

/** What takes two columns of a terminal: emoji, and the scripts of East Asia (Unicode TR 11). */
const wide =
  /\p{Emoji_Presentation}|\ufe0f|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]/u;

const characters = new Intl.Segmenter();

/**
 * Rows below their titles, in columns that are aligned. Every line ends with a line feed.
 * @param bold whether the terminal shows the titles in bold
 */
export function tableText(
  titles: readonly string[],
  rows: readonly (readonly string[])[],
  bold: boolean,
): string {
  const [head = '', ...lines] = aligned([titles, ...rows.map((row) => row.map(plain))]);
  return [bold ? `\u001b[1m${head}\u001b[0m` : head, ...lines].map((line) => `${line}\n`).join('');
}

/** Values behind their labels, one on a line, indented. */
export function recordText(fields: readonly (readonly [label: string, value: string])[]): string {
  return aligned(fields.map((field) => field.map(plain)))
    .map((line) => `  ${line}\n`)
    .join('');
}

function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    rows.reduce((widest, row) => Math.max(widest, widthOf(row[column] ?? '')), 0),
  );
  return rows.map((row) =>
    row
      .map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - widthOf(cell)))
      .join('  ')
      .trimEnd(),
  );
}

function widthOf(text: string): number {
  if (/^[ -~]*$/.test(text)) return text.length;
  return Array.from(characters.segment(text), ({ segment }) => (wide.test(segment) ? 2 : 1)).reduce<number>(
    (sum, width) => sum + width,
    0,
  );
}
