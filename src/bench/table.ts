import { makeTable, type Screen } from '../cli/table.ts';
import { type Measurement, microsOf, nameOf, threadRoles } from './measurement.ts';
import type { Combination } from './sweep.ts';

/** A column of the table of stages. */
export interface StageColumn {
  readonly title: string;
  readonly text: (measurement: Measurement, base: Combination) => string;
  readonly isText?: true;
}

/** The columns of the table, in the terminal and in the report. */
export const stageColumns: readonly StageColumn[] = [
  { title: 'Settings', text: ({ combination }, base) => nameOf(combination, base), isText: true },
  { title: 'Load', text: loadOf, isText: true },
  { title: 'Connections', text: ({ connections }) => String(connections) },
  { title: 'Packets/s', text: ({ packetsPerSecond }) => whole(packetsPerSecond) },
  { title: 'p50 ms', text: ({ p50 }) => tenths(p50) },
  { title: 'p99 ms', text: ({ p99 }) => tenths(p99) },
  { title: 'p99.9 ms', text: ({ p999 }) => tenths(p999) },
  ...threadRoles.map((role) => ({
    title: `${role} µs`,
    text: (each: Measurement) => (each.threads.length === 0 ? '-' : tenths(microsOf(each, role))),
  })),
  { title: 'Flushes/s', text: ({ flushesPerSecond }) => whole(flushesPerSecond) },
  { title: 'Bytes/packet', text: ({ bytesPerPacket }) => whole(bytesPerPacket) },
  { title: 'Generator', text: ({ generatorBusiest }) => `${Math.round(generatorBusiest * 100)} %` },
  { title: 'Others', text: ({ foreignCores }) => (foreignCores === undefined ? '-' : tenths(foreignCores)) },
  { title: 'Errors', text: ({ errors }) => String(errors) },
  { title: 'Counts', text: ({ difference }) => (difference === undefined ? 'exact' : 'wrong') },
];

/** The stages as a table for a terminal. */
export function tableText(all: readonly Measurement[], base: Combination, screen: Screen): string {
  const headings = stageColumns.map(({ title, isText }) => ({
    title: title.toUpperCase(),
    ...(!isText && { right: true as const }),
  }));
  const rows = all.map((each) => stageColumns.map(({ text }) => text(each, base)));
  return makeTable(headings, rows, screen).text;
}

/** The load in words: `http, ceiling` or `http, 80 %, disturbed`. */
export function loadOf({ transport, share, isDisturbed }: Measurement): string {
  const load = share === undefined ? 'ceiling' : `${Math.round(share * 100)} %`;
  return `${transport}, ${load}${isDisturbed ? ', disturbed' : ''}`;
}

/** A whole number with separators; `-` if unknown. */
export function whole(value: number | undefined): string {
  return value === undefined ? '-' : Math.round(value).toLocaleString('en-GB');
}

function tenths(value: number): string {
  return value.toFixed(1);
}
