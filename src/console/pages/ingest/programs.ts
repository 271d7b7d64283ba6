import { messageRoutes } from '../../../contract/message-routes.ts';
import { parseProgram, senderProgram } from '../../../contract/programs.ts';
import type { LedgerEntry } from '../../../contract/shapes/ledger.ts';
import { byProgram } from '../../components/programs.ts';

export const outcomes = ['accepted', 'refused', 'noted'] as const satisfies readonly LedgerEntry['outcome'][];

export type Counts = Readonly<Record<LedgerEntry['outcome'], number>>;

export interface SendingProgram {
  readonly name: string;
  readonly lastAt: string;
  readonly types: readonly string[];
  readonly counts: Counts;
  /** Codes of refusals and notes, the latest first. */
  readonly codes: readonly string[];
  /** Versions; the version of the latest message comes first. */
  readonly versions: readonly SendingVersion[];
}

/** A version of a program, or an instance of a program that sends instance names. */
interface SendingVersion {
  /** Empty if neither the version nor the instance is known. */
  readonly label: string;
  readonly userAgents: readonly string[];
}

export function programsIn(entries: readonly LedgerEntry[]): SendingProgram[] {
  return byProgram(entries, ({ sender: { userAgent, instance } }) => senderProgram(userAgent, instance)).map(
    ({ name, lastAt, entries: own }) => ({
      name,
      lastAt,
      counts: sumCounts(own),
      types: [...new Set(own.map(formatType))],
      codes: [...new Set(own.flatMap(({ code }) => code ?? []))],
      versions: byProgram(own, formatVersion).map((version) => ({
        label: version.name,
        userAgents: [...new Set(version.entries.flatMap(({ sender }) => sender.userAgent ?? []))],
      })),
    }),
  );
}

/** Formats a version as `2.1`, or as `2.1 (web-7)` with an instance. */
function formatVersion({ sender: { userAgent, instance } }: LedgerEntry): string {
  if (userAgent === null) return '';
  const { version } = parseProgram(userAgent);
  return [version, instance === null ? undefined : `(${instance})`].filter(Boolean).join(' ');
}

function sumCounts(entries: readonly LedgerEntry[]): Counts {
  const counts = { accepted: 0, refused: 0, noted: 0 };
  for (const { outcome, count } of entries) counts[outcome] += count;
  return counts;
}

/** Formats the type of a message: `Packets`, `Usage reports, grpc`. */
export function formatType({ route, transport }: Pick<LedgerEntry, 'route' | 'transport'>): string {
  return `${messageRoutes[route].label}${transport === 'http' ? '' : `, ${transport}`}`;
}
