import { exampleTime } from '../../contract/shapes/fields.ts';
import { IngestReport } from '../../contract/shapes/ledger.ts';
import { timeText } from '../../runtime/rfc3339.ts';
import { type LedgerEntry, ledgerEntries } from '../../storage/lmdb/ledger.ts';
import { fromSnapshot, readEach } from '../../storage/lmdb/snapshot.ts';
import type { UsageTables } from '../../storage/lmdb/usage.ts';
import { type LedgerTask, namesIn, withKeyName } from '../usage/ledger-report.ts';
import { columnsIn, type RowWriter } from './row-writer.ts';
import { type Rows, writeRows } from './rows.ts';

export const ledgerColumns = {
  time: { description: 'Start of the hour.', example: exampleTime },
  ...columnsIn(IngestReport, 'entries'),
};

/** Yields the rows of the ledger by hour, the earliest first. Each hour is read from one snapshot. */
export function* ledgerRows(store: UsageTables, task: LedgerTask, writer: RowWriter): Rows {
  const { application, only, unnamed, hours } = task;
  const names = namesIn(task);
  const isWanted = ({ dimensions: { environment } }: LedgerEntry) =>
    only === undefined || (names.environments.has(environment) ? environment === only.number : unnamed);
  for (let hour = hours.from; hour < hours.to; hour += 1) {
    const entries = yield* fromSnapshot(store.lmdb, function* (at) {
      const found: LedgerEntry[] = [];
      yield* readEach(ledgerEntries(store, application.number, hour, hour + 1, at), (entry) => {
        if (isWanted(entry)) found.push(entry);
      });
      return found;
    });
    if (entries.length > 0) yield* writeRows(writer, entries, (entry) => listCells(entry, names));
  }
}

function listCells({ hour, dimensions, count, lastAt, example }: LedgerEntry, names: ReturnType<typeof namesIn>) {
  const { environment, transport, route, userAgent, instance, outcome, status, code } = dimensions;
  const of = [timeText(hour * 3_600_000), names.environments.get(environment) ?? null, transport, route];
  return [...of, userAgent, instance, outcome, status, code, count, timeText(lastAt), withKeyName(example, names)];
}
