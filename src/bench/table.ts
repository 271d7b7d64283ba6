import { capital, makeTable, type Screen } from '../cli/show.ts';
import { computeMicros, formatCombination, type Measurement, threadRoles } from './measurement.ts';
import type { Combination } from './sweep.ts';

interface StageColumn {
  readonly title: string;
  readonly unit?: 'ms' | 'µs';
  readonly text: (measurement: Measurement, base: Combination) => string;
  readonly isText?: true;
}

/** Columns for the settings and the load of a stage, and for its response times. */
const speedColumns: readonly StageColumn[] = [
  { title: 'Settings', text: ({ combination }, base) => formatCombination(combination, base), isText: true },
  { title: 'Load', text: (each) => describeLoad({ ...each, isDisturbed: false }), isText: true },
  { title: 'Connections', text: ({ connections }) => String(connections) },
  { title: 'Packets/s', text: ({ packetsPerSecond }) => whole(packetsPerSecond) },
  { title: 'p50', unit: 'ms', text: ({ p50 }) => tenths(p50) },
  { title: 'p99', unit: 'ms', text: ({ p99 }) => tenths(p99) },
  { title: 'p99.9', unit: 'ms', text: ({ p999 }) => tenths(p999) },
  {
    title: 'Generator p99',
    unit: 'ms',
    text: ({ share, generatorP99 }) => (share === undefined ? '-' : tenths(generatorP99)),
  },
];

const costColumns: readonly StageColumn[] = [
  ...threadRoles.map((role) => ({
    title: capital(role),
    unit: 'µs' as const,
    text: (each: Measurement) => (each.threads.length === 0 ? '-' : tenths(computeMicros(each, role))),
  })),
  { title: 'Flushes/s', text: ({ flushesPerSecond }) => whole(flushesPerSecond) },
  { title: 'Bytes/packet', text: ({ bytesPerPacket }) => whole(bytesPerPacket) },
];

const soundnessColumns: readonly StageColumn[] = [
  { title: 'Generator CPU', text: ({ generatorBusiest }) => `${Math.round(generatorBusiest * 100)} %` },
  {
    title: 'Others',
    text: ({ foreignCores, isDisturbed }) =>
      foreignCores === undefined ? '-' : `${tenths(foreignCores)}${isDisturbed ? ', disturbed' : ''}`,
  },
  { title: 'Errors', text: ({ errors }) => String(errors) },
  { title: 'Counts', text: ({ difference }) => (difference === undefined ? 'exact' : 'wrong') },
];

export const stageColumns: readonly StageColumn[] = [...speedColumns, ...costColumns, ...soundnessColumns];

/** Maximum width of the output in characters. */
export const mostWidth = 100;

/** Formats the stages as several tables for a terminal. A stage has the same number in each table. */
export function tablesText(all: readonly Measurement[], base: Combination, screen: Screen): string {
  const width = Math.min(mostWidth, screen.width ?? mostWidth);
  const number = { title: '#', right: true as const };
  const tables = [speedColumns, costColumns, soundnessColumns].map((columns) => {
    const headings = columns.map((column) => ({
      title: formatHeading(column),
      ...(column.isText ? { cut: true as const } : { right: true as const }),
    }));
    const rows = all.map((each, at) => [String(at + 1), ...columns.map(({ text }) => text(each, base))]);
    return makeTable([number, ...headings], rows, { ...screen, width }).text;
  });
  return tables.join('\n');
}

/** Formats a heading in upper case, except its unit: µs in upper case would be Greek. */
function formatHeading({ title, unit }: StageColumn): string {
  return unit === undefined ? title.toUpperCase() : `${title.toUpperCase()} ${unit}`;
}

/** Formats the load: `http, ceiling` or `http, 80 %, disturbed`. */
export function describeLoad({ transport, share, isDisturbed }: Measurement): string {
  const load = share === undefined ? 'ceiling' : `${Math.round(share * 100)} %`;
  return `${transport}, ${load}${isDisturbed ? ', disturbed' : ''}`;
}

/** Formats a whole number with separators; `-` if unknown. */
export function whole(value: number | undefined): string {
  return value === undefined ? '-' : Math.round(value).toLocaleString('en-GB');
}

function tenths(value: number): string {
  return value.toFixed(1);
}

/** Breaks a text into indented lines of at most `mostWidth` columns. A longer word has its own line. */
export function paragraph(text: string): string {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const line = lines.at(-1);
    if (line !== undefined && line.length + 1 + word.length <= mostWidth) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(`  ${word}`);
  }
  return lines.map((line) => `${line}\n`).join('');
}
