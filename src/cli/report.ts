import { type Field, flag, rangeFlags } from '../contract/resources/field.ts';
import type { Item } from './api.ts';
import type { Command } from './command.ts';
import { appFlag, formatFlag, jsonFlag, urlFlag } from './common-flags.ts';
import type { Column } from './print.ts';

/** A report of the management API on an application. */
export interface Report {
  /** The command, and the segment of its path. */
  readonly name: string;
  readonly summary: string;
  /** Whether it covers one environment, or any of them. */
  readonly of: 'one environment' | 'any environment';
  /** Parameters of its query that only this report has. */
  readonly fields: readonly Field[];
  /** A line above the tables, below the title. */
  headline?(report: Item): string;
  /** Its tables; those without rows are left out. */
  tables(report: Item, given: ReadonlySet<string>): readonly Sheet[];
  /** The message when no table has rows. */
  readonly empty: string;
}

export interface Sheet {
  readonly columns: readonly Column[];
  readonly items: readonly Item[];
}

export const range = rangeFlags('a day before the end');

/** The command of a report. */
export function commandOf({ name, summary, of, fields }: Report): Command {
  const environment = flag('environment NAME', 'Environment: its name', {
    more: of === 'one environment' ? 'default: the only one that there is' : 'default: all of them',
  });
  return { name, summary, flags: [environment, ...fields, ...range, appFlag, urlFlag, jsonFlag, formatFlag] };
}

/** The items that a field of a report has. */
export function itemsOf(item: Item, field: string): readonly Item[] {
  const items = item[field];
  return Array.isArray(items) ? items : [];
}
