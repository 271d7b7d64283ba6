import type { ComponentChildren } from 'preact';
import { checksOnlyText } from '../../../contract/message-routes.ts';
import { programText } from '../../../contract/programs.ts';
import { now } from '../../api/clock.ts';
import { format, periodMs, seenText } from '../../text/format.ts';
import type { Column } from './table.tsx';

/** A point in time, RFC 3339. Its title is the elapsed time. */
export function Time({ at }: { readonly at: string }) {
  return (
    <time dateTime={at} title={format.relative(at, now.value)}>
      {format.time(at)}
    </time>
  );
}

/** The time since a point in time, or its date after two weeks. The exact time is its title. */
export function Ago({ at, never = '–' }: { readonly at: string | null; readonly never?: string }) {
  if (at === null) return <>{never}</>;
  return (
    <time dateTime={at} title={format.time(at)}>
      {format.relative(Math.min(Date.parse(at), now.value), now.value)}
    </time>
  );
}

/** The time since a sender was last seen. @param props `at`: the start of its last period */
export function SeenAgo({ at }: { readonly at: string }) {
  const start = Date.parse(at);
  return (
    <time dateTime={at} title={`Between ${format.time(start)} and ${format.clock(start + periodMs)}`}>
      {seenText(start, now.value)}
    </time>
  );
}

/** A program and its version; its whole `User-Agent` is the title. */
export function Program({ userAgent }: { readonly userAgent: string }) {
  return <span title={userAgent}>{programText(userAgent)}</span>;
}

/** Replaces a count that the sources do not report. */
export function NotReported({ sources }: { readonly sources: readonly string[] }) {
  return (
    <span class="quiet" title={checksOnlyText(sources)}>
      <span aria-hidden="true">–</span>
      <span class="hidden">not reported</span>
    </span>
  );
}

/** The column of the buttons of a row. */
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
