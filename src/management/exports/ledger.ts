import { type LedgerEntry, ledgerEntries } from '../../storage/lmdb/ledger.ts';
import { fromSnapshot, readEach } from '../../storage/lmdb/snapshot.ts';
import type { UsageTables } from '../../storage/lmdb/usage.ts';
import { timeText } from '../answers.ts';
import type { LedgerTask } from '../ledger-report.ts';
import type { Columns, RowWriter } from './row-writer.ts';
import { type Rows, rowsOf } from './rows.ts';

export const ledgerColumns = {
  time: { description: 'The start of the hour.', example: '2026-01-31T12:00:00.000Z' },
  environment: {
    description: 'Name of the environment; nothing if the request named none that exists.',
    example: 'Production',
  },
  transport: { description: 'How it came: `http`, `grpc` or `grpc-web`.', example: 'http' },
  route: {
    description: 'What it was: `telemetry`, `usage`, `metrics` or `identities`.',
    example: 'telemetry',
  },
  userAgent: { description: 'The `User-Agent`.', example: 'Mozilla/5.0' },
  instance: { description: 'The `instanceName` of a report.', example: null },
  outcome: { description: '`accepted`, `refused` or `noted`.', example: 'refused' },
  status: { description: 'The HTTP status, or the one that corresponds to the gRPC status.', example: 403 },
  code: { description: 'Why it was refused or noted.', example: 'origin_not_allowed' },
  count: { description: 'How often.', example: 3 },
  lastAt: { description: 'When it last happened.', example: '2026-01-31T12:58:00.000Z' },
  example: {
    description: 'What is known of the last one, as JSON.',
    example: { origin: 'https://shop.test' },
  },
} satisfies Columns;

/** The ledger hour by hour, the earliest first. Each hour is one snapshot. */
export function* ledgerRows(
  store: UsageTables,
  { application, only, unnamed, hours }: LedgerTask,
  writer: RowWriter,
): Rows {
  const names = new Map<number | null, string>(
    application.environments.map((each) => [each.number, each.name]),
  );
  const isWanted = ({ subject: { environment } }: LedgerEntry) =>
    only === undefined || (names.has(environment) ? environment === only.number : unnamed);
  for (let hour = hours.from; hour < hours.to; hour += 1) {
    const entries = yield* fromSnapshot(store.lmdb, function* (at) {
      const found: LedgerEntry[] = [];
      yield* readEach(ledgerEntries(store, application.number, hour, hour + 1, at), (entry) => {
        if (isWanted(entry)) found.push(entry);
      });
      return found;
    });
    if (entries.length > 0) yield* rowsOf(writer, entries, (entry) => cellsOf(entry, names));
  }
}

function cellsOf(
  { hour, subject, count, lastAt, example }: LedgerEntry,
  names: ReadonlyMap<number | null, string>,
) {
  const { environment, transport, route, userAgent, instance, outcome, status, code } = subject;
  const of = [timeText(hour * 3_600_000), names.get(environment) ?? null, transport, route];
  return [...of, userAgent, instance, outcome, status, code, count, timeText(lastAt), example];
}
