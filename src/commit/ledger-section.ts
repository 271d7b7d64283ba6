import { mergeTally } from '../aggregate/merge.ts';
import {
  deleteLedger,
  getLedgerTally,
  type LedgerLine,
  type LedgerTally,
  ledgerKey,
  ledgerLifeHours,
  putLedgerRow,
} from '../store/ledger.ts';
import type { UsageStore } from '../store/usage.ts';
import type { Section } from './section.ts';

/** Rows that a worker keeps in memory: about 10 MB. */
const hotRowLimit = 10_000;

interface HotRow {
  readonly key: Buffer;
  readonly tally: LedgerTally;
}

/**
 * Adds what a batch says to the ledger. The rows that are being written to are kept in memory, so that a commit is puts
 * only. With every row that is new, some of the application's that are over their time are deleted.
 */
export function ledgerSection(store: UsageStore): Section {
  const hot = new Map<string, HotRow>();

  function open(name: string, line: LedgerLine): HotRow {
    const key = ledgerKey(line);
    const stored = getLedgerTally(store, key);
    if (stored === undefined) deleteLedger(store, line.application, line.hour - ledgerLifeHours, 2);
    const row = { key, tally: stored ?? { count: 0, lastAt: 0, example: null } };
    hot.set(name, row);
    return row;
  }

  return {
    write({ ledger }) {
      for (const line of ledger) {
        const name = `${line.application} ${line.hour} ${line.subject}`;
        const { key, tally } = hot.get(name) ?? open(name, line);
        mergeTally(tally, line);
        putLedgerRow(store, key, line.subject, tally);
      }
      if (hot.size > hotRowLimit) hot.clear();
    },
    forget: () => hot.clear(),
  };
}
