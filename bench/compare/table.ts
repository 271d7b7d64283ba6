import { median } from '../numbers.ts';
import { judge, type Row } from './row.ts';

/** Formats the rows as a Markdown table: both medians with the lowest and highest round, the ratio, and the verdict. */
export function markdown(rows: readonly Row[]): string {
  const cells = rows.map((row) => [
    `${row.group}: ${row.name}`,
    spread(row.previous),
    spread(row.current),
    ratio(row),
    judge(row) === 'slower' ? '**slower**' : judge(row),
  ]);
  const lines = [
    ['Figure', 'previous', 'new', 'new ÷ previous', 'verdict'],
    ['---', '--:', '--:', '--:', '---'],
    ...cells,
  ];
  return lines.map((line) => `| ${line.join(' | ')} |\n`).join('');
}

/** Returns the rows with their medians, ratios and verdicts. */
export function json(rows: readonly Row[]): object[] {
  return rows.map((row) => ({
    ...row,
    previousMedian: row.previous.length > 0 ? median(row.previous) : null,
    currentMedian: row.current.length > 0 ? median(row.current) : null,
    ratio: computeRatio(row) ?? null,
    verdict: judge(row),
  }));
}

function computeRatio({ previous, current }: Row): number | undefined {
  const value = median(current) / median(previous);
  return Number.isFinite(value) ? value : undefined;
}

function ratio(row: Row): string {
  return computeRatio(row)?.toFixed(2) ?? '';
}

function spread(values: readonly number[]): string {
  if (values.length === 0) return 'not available';
  const [least, most] = [Math.min(...values), Math.max(...values)].map(format);
  return least === most ? least! : `${format(median(values))} (${least}–${most})`;
}

/** Formats a number with at least three significant digits. */
function format(value: number): string {
  const decimals = value === 0 ? 0 : Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return value.toLocaleString('en-GB', { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
}
