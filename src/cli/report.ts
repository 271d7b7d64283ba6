import { calendarRanges } from '../contract/calendar.ts';
import type { AnyColumns } from '../contract/resources/column.ts';
import { envOption, type Field, oneEnvOption, option, rangeOptions } from '../contract/shapes/option.ts';
import type { Item } from './api.ts';
import type { Syntax } from './command.ts';
import { appOption, formatOption, jsonOption, urlOption } from './common-options.ts';

/** A report of the management API about one application. */
export interface Report {
  /** Name of the command. It is also the last segment of the report's API path. */
  readonly name: string;
  readonly summary: string;
  readonly examples: readonly string[];
  /** Scope of the report: one environment, or optionally several. */
  readonly of: 'one environment' | 'any environment';
  /** Query parameters in addition to the application, the environment and the range. */
  readonly fields: readonly Field[];
  /** A line above the tables, below the title; `undefined` for no line. */
  headline?(report: Item): string | undefined;
  /** A path whose response is shown as one more table. Only Admins of the installation may read it. */
  readonly more?: { readonly path: readonly string[]; table(response: Item): Sheet };
  /** True if sums need the overview of the environment, which names features whose senders report only checks. */
  readonly withOverview?: true;
  /** Tables without rows are not printed. */
  tables(report: Item, given: ReadonlySet<string>, overview: Item): readonly Sheet[];
  /** Additional help text. */
  readonly notes?: string;
  /** The message when no table has rows. */
  readonly empty: string;
}

export interface Sheet {
  readonly columns: AnyColumns;
  readonly items: readonly Item[];
}

export const times = rangeOptions('a day before the end');

/** Options for a named range and the time zone of its days. */
const named = [
  option('range RANGE', 'Calendar range such as this-month, instead of --from and --to', {
    values: Object.keys(calendarRanges),
  }),
  option('time-zone ZONE', 'Time zone in which days begin, such as Europe/Berlin', { more: 'default: UTC' }),
] as const;

/** Returns the option for the environment of a report. */
export function environmentOption(of: Report['of']): Field {
  if (of === 'one environment') return oneEnvOption('Environment name');
  return envOption('Environment name', { more: 'default: all environments', as: 'environment' });
}

export function createCommand({ name, summary, examples, of, fields }: Report): Syntax {
  return {
    name,
    summary,
    examples,
    options: [environmentOption(of), ...fields, ...times, ...named, appOption, urlOption, jsonOption, formatOption],
  };
}

export function readItems(item: Item, field: string): readonly Item[] {
  const items = item[field];
  return Array.isArray(items) ? items : [];
}
