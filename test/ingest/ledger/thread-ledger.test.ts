import { expect, test } from 'vitest';
import { Refusal } from '../../../src/contract/errors.ts';
import { Ledger } from '../../../src/ingest/ledger/ledger.ts';
import { LedgerTotals } from '../../../src/storage/commit/batch.ts';
import { testClock } from '../../accounts/fixture.ts';

const source = { route: 'telemetry', transport: 'http', userAgent: 'shop/1' } as const;
const unknown = new Refusal('unknown_key', 'k is not a key');

test('the ledger of the main thread has the unattributed refusals of all threads', () => {
  const clock = testClock(1000);
  const totals = new LedgerTotals();
  const main = new Ledger({ clock, findLane: () => ({ ledger: totals }) });
  const send = () => main.addFigures(structuredClone(thread.takeFigures()));
  const outbox = { send, sendLater: () => {} };
  const thread: Ledger = new Ledger({ clock, findLane: () => ({ ledger: totals }), outbox });
  const claim = { environment: 'Production' };
  thread.refusedUnattributed(unknown, source, claim);
  thread.refusedUnread(new Refusal('backpressure', 'Too many'));
  clock.advance(1);
  main.refusedUnattributed(unknown, source, claim);
  clock.advance(1);
  thread.refusedUnattributed(unknown, source, claim);
  thread.refusedUnattributed(unknown, source, { environment: 'Staging' });
  expect(main.unattributed).toEqual(
    new Map([
      ['unknown_key', 4],
      ['backpressure', 1],
    ]),
  );
  expect(main.latestUnattributed.latest).toMatchObject([
    { environment: 'Staging', count: 1, at: 1002 },
    { environment: 'Production', count: 3, at: 1002 },
  ]);
  expect(thread.unattributed.size).toBe(0);
});
