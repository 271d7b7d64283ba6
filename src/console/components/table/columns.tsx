import type { ComponentChildren } from 'preact';
import { checksOnlyText } from '../../../contract/message-routes.ts';
import { programText } from '../../../contract/programs.ts';
import { now } from '../../api/clock.ts';
import { format, periodMs, seenText } from '../../text/format.ts';
import type { Column } from './table.tsx';

/** A time, RFC 3339. Its tooltip shows the elapsed time. */
export function Time({ at }: { readonly at: string }) {
  return (
    <time dateTime={at} title={format.relative(at, now.value)}>
      {format.time(at)}
    </time>
  );
}

/** The elapsed time, or the date after two weeks. The exact time is the tooltip. */
export function Ago({ at, never = '–' }: { readonly at: string | null; readonly never?: string }) {
  if (at === null) return <>{never}</>;
  return (
    <time dateTime={at} title={format.time(at)}>
      {format.relative(Math.min(Date.parse(at), now.value), now.value)}
    </time>
  );
}

/**
 * The time since a sender was last seen. @param props `at`: the start of the ten-minute period in which the sender was
 * last seen
 */
export function SeenAgo({ at }: { readonly at: string }) {
  const start = Date.parse(at);
  return (
    <time dateTime={at} title={`Between ${format.time(start)} and ${format.clock(start + periodMs)}`}>
      {seenText(start, now.value)}
    </time>
  );
}

/** A program and its version. The tooltip is the whole `User-Agent`. */
export function Program({ userAgent }: { readonly userAgent: string }) {
  return <span title={userAgent}>{programText(userAgent)}</span>;
}

/** First and last UTC day on which users are counted. Outside of UTC, the tooltip shows their times. */
export function UserDays({ from, to }: { readonly from: string; readonly to: string }) {
  const isOver = to < new Date(now.value).toISOString().slice(0, 10);
  return (
    <span title={format.dayTimes(from, to)}>
      {format.days(from, to)}
      {isOver ? '' : ', so far'}
    </span>
  );
}

/** Shown instead of a count that the sources do not report. */
export function NotReported({ sources }: { readonly sources: readonly string[] }) {
  return (
    <span class="quiet" title={checksOnlyText(sources)}>
      <span aria-hidden="true">–</span>
      <span class="hidden">not reported</span>
    </span>
  );
}

/** Returns the column with the buttons of each row. */
export function actionsColumn<Row>(cell: (row: Row) => ComponentChildren): Column<Row> {
  return { key: 'do', title: 'Actions', class: 'settings-do', cell };
}

export function timeColumn<Name extends string>(
  name: Name,
  title: string,
  key: string = name,
): Column<Readonly<Record<Name, string>>> {
  return { key, title, value: (row) => row[name], cell: (row) => <Time at={row[name]} /> };
}

export function agoColumn<Name extends string>(
  name: Name,
  title: string,
  key: string = name,
): Column<Readonly<Record<Name, string | null>>> {
  return { key, title, value: (row) => row[name], cell: (row) => <Ago at={row[name]} /> };
}

export function countColumn<Name extends string>(name: Name, title: string): Column<Readonly<Record<Name, number>>> {
  return { key: name, title, number: true, value: (row) => row[name], cell: (row) => format.full(row[name]) };
}

/** Column of an estimated number of people. The caption or a text next to the table names the days. */
export function peopleColumn<Name extends string>(name: Name, title: string): Column<Readonly<Record<Name, number>>> {
  return { ...countColumn(name, title), cell: (row) => format.people(row[name]) };
}
