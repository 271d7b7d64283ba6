import fc from 'fast-check';
import { expect, test } from 'vitest';
import { surplusName } from '../../../src/contract/names.ts';
import { HourRows } from '../../../src/ingest/ledger/hour-rows.ts';
import { sendersPerHour } from '../../../src/storage/aggregate/hot-ledger.ts';
import { Batch } from '../../../src/storage/commit/batch.ts';
import { ledgerSection } from '../../../src/storage/commit/sections.ts';
import { encodeDimensions, type LedgerLine, ledgerEntries, ledgerLifeHours } from '../../../src/storage/lmdb/ledger.ts';
import { openUsageTables, type UsageTables } from '../../../src/storage/lmdb/usage.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { temporaryUsage } from '../../support/temporary-usage.ts';

const now = 490_000;

function createLine(application: number, hour: number, status: number, count = 1, at = 0): LedgerLine {
  const dimensions = encodeDimensions({
    environment: 1,
    transport: 'http',
    route: 'telemetry',
    outcome: 'refused',
    status,
    code: 'unknown_key',
    userAgent: null,
    instance: null,
  });
  return { application, hour, subject: dimensions, count, lastAt: at, example: { detail: `at ${at}` } };
}

/** Commits lines. @param fails true to let the commit fail */
function commit(store: UsageTables, section: ReturnType<typeof ledgerSection>, lines: LedgerLine[], fails = false) {
  const envelope = new Batch().seal(undefined, lines);
  try {
    store.lmdb.transactionSync(() => {
      section.add(envelope);
      section.put!();
      if (fails) throw new Error('the disk is full');
    });
  } catch {
    section.forget!();
  }
}

test('ledger rows have the sums of all commits and the last example, even after failures and reopening', async () => {
  const line = fc.record({
    application: fc.constantFrom(1, 2),
    hour: fc.constantFrom(now, now + 1),
    status: fc.constantFrom(404, 429),
    count: fc.integer({ min: 1, max: 1000 }),
    at: fc.nat(1000),
  });
  const step = fc.record({ lines: fc.array(line, { maxLength: 6 }), fails: fc.boolean(), reopens: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (steps) => {
      const store = openUsageTables(temporaryDirectory());
      let section = ledgerSection(store);
      const model = new Map<string, { count: number; lastAt: number }>();
      for (const { lines, fails, reopens } of steps) {
        const made = lines.map(({ application, hour, status, count, at }) =>
          createLine(application, hour, status, count, at),
        );
        commit(store, section, made, fails);
        if (reopens) section = ledgerSection(store);
        if (fails) continue;
        for (const { application, hour, status, count, at } of lines) {
          const name = `${application} ${hour} ${status}`;
          const known = model.get(name) ?? { count: 0, lastAt: 0 };
          model.set(name, { count: known.count + count, lastAt: Math.max(known.lastAt, at) });
        }
      }
      store.ledger.resetReadTxn();
      const found = [1, 2].flatMap((application) =>
        Array.from(ledgerEntries(store, application, 0, now + 2), (entry) => {
          const { hour, dimensions, count, lastAt, example } = entry;
          expect(example).toEqual({ detail: `at ${lastAt}` });
          return [`${application} ${hour} ${dimensions.status}`, { count, lastAt }] as const;
        }),
      );
      expect(new Map(found)).toEqual(model);
      await store.lmdb.close();
    }),
    { numRuns: 30 },
  );
});

test('new ledger rows remove expired rows of the same application', async () => {
  const store = temporaryUsage();
  const section = ledgerSection(store);
  const listHours = (application: number) => {
    store.ledger.resetReadTxn();
    return Array.from(ledgerEntries(store, application, 0, now + 1), ({ hour }) => hour - now);
  };
  const old = [3, 2, 1, 0].map((age) => -ledgerLifeHours - age);
  for (const application of [1, 2]) {
    commit(
      store,
      section,
      old.map((hour) => createLine(application, now + hour, 404)),
    );
  }
  commit(store, section, [createLine(1, now, 404)]);
  commit(store, section, [createLine(1, now, 404)]);
  expect(listHours(1)).toEqual([0, -ledgerLifeHours, -ledgerLifeHours - 1]);
  commit(store, section, [createLine(1, now, 429), createLine(1, now, 403)]);
  expect(listHours(1)).toEqual([0, 0, 0, -ledgerLifeHours]);
  expect(listHours(2)).toEqual(old.toReversed());
});

test('the number of ledger rows of an hour stays limited if several threads each add the maximum number', () => {
  const store = temporaryUsage();
  const threads = Array.from({ length: 3 }, (_, thread) => {
    const rows = new HourRows(1, now, []);
    const sent = Array.from({ length: 3 * sendersPerHour }, (_, sender) =>
      rows.acceptedRow({
        route: 'telemetry',
        transport: 'http',
        environment: 1,
        userAgent: `thread ${thread}, sender ${sender}`,
      }),
    );
    return sent.map((row) => ({ ...row, count: 1, lastAt: 0, example: null }));
  });
  let section = ledgerSection(store);
  for (const lines of threads) {
    for (let at = 0; at < lines.length; at += 40) commit(store, section, lines.slice(at, at + 40));
    section = ledgerSection(store);
    commit(store, section, lines, true);
  }
  const entries = [...ledgerEntries(store, 1, now, now + 1)];
  const named = entries.filter(({ dimensions }) => dimensions.userAgent !== surplusName);
  expect(named).toHaveLength(sendersPerHour);
  expect(entries).toHaveLength(sendersPerHour + 1);
  expect(entries.reduce((sum, { count }) => sum + count, 0)).toBe(9 * sendersPerHour);
});
