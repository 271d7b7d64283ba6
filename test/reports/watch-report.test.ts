import { describe, expect, onTestFinished, test } from 'vitest';
import { declareFeature, patchFeature } from '../../src/accounts/features.ts';
import { Refusal } from '../../src/contract/errors.ts';
import { silentMs } from '../../src/contract/health.ts';
import { addPacket } from '../../src/ingest/formats/telemetry/add-packet.ts';
import { checkPacket } from '../../src/ingest/formats/telemetry/packet.ts';
import { Ledger } from '../../src/ingest/ledger/ledger.ts';
import { watchReport } from '../../src/reports/verdicts/findings.ts';
import { createAggregator } from '../../src/storage/commit/aggregator.ts';
import { Batch } from '../../src/storage/commit/batch.ts';
import { SeriesDictionary } from '../../src/storage/commit/series-dictionary.ts';
import { openUsageTables } from '../../src/storage/lmdb/usage.ts';
import type { WatchTask } from '../../src/webhooks/findings.ts';
import { openFixture } from '../accounts/fixture.ts';
import { finish } from '../support/finish.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const dayMs = 86_400_000;

async function openReport() {
  const fixture = await openFixture();
  const { directory, clock, application } = fixture;
  const store = openUsageTables(temporaryDirectory());
  onTestFinished(() => store.lmdb.close());
  const { write } = createAggregator(store);
  const dictionary = new SeriesDictionary(store, { features: 9, variants: 9, metrics: 9 });
  const [production, staging] = application.environments;
  const task = (more: Partial<WatchTask>): WatchTask => ({
    application: application.number,
    environments: application.environments,
    declared: [],
    now: clock.now(),
    staleAfterMs: 30 * dayMs,
    firstSeenFrom: null,
    staleFrom: null,
    verdictsFrom: null,
    refusedFrom: null,
    ...more,
  });
  return {
    ...fixture,
    store,
    write,
    production: production!,
    staging: staging!,
    see(feature: string, environment = production!) {
      const batch = new Batch();
      const packet = checkPacket({ k: 'k', e: environment.name, f: { [feature]: { on: [1] } } });
      addPacket(packet, dictionary.of(environment.number), batch, clock.now());
      write(batch.seal());
    },
    find: (more: Partial<WatchTask>) => finish(watchReport(store, task(more))),
    stale(from: number) {
      const declared = [...directory.getFeatures(application.id).values()];
      return finish(watchReport(store, task({ staleFrom: from, declared }))).stale;
    },
  };
}

describe('the watch report', () => {
  test('watchReport lists the features that were first seen since a time, by environment', async () => {
    const { see, find, clock, production, staging } = await openReport();
    see('old');
    clock.advance(dayMs);
    const from = Math.floor(clock.now() / 60_000) * 60_000;
    see('old', staging);
    see('new');
    see('new');
    const found = find({ firstSeenFrom: from }).firstSeen;
    expect(found).toHaveLength(2);
    expect(found).toEqual(
      expect.arrayContaining([
        { environment: { name: production.name, number: production.number }, feature: 'new', at: from },
        { environment: { name: staging.name, number: staging.number }, feature: 'old', at: from },
      ]),
    );
    expect(find({ firstSeenFrom: from + 60_000 }).firstSeen).toEqual([]);
  });

  test('watchReport lists features that became stale, except archived and permanent features', async () => {
    const { see, stale, clock, directory, application, staging } = await openReport();
    const start = clock.now();
    for (const name of ['silent', 'busy', 'archived', 'permanent', 'snoozed']) see(name);
    await declareFeature(directory, application.id, { name: 'never' });
    await patchFeature(directory, application.id, 'archived', { archived: true });
    await patchFeature(directory, application.id, 'permanent', { permanent: true });
    await patchFeature(directory, application.id, 'snoozed', { snoozedUntil: start + 60 * dayMs });
    clock.advance(20 * dayMs);
    see('busy', staging);
    clock.advance(10 * dayMs - 120_000);
    expect(stale(start)).toEqual([]);
    clock.advance(180_000);
    expect(
      stale(start)
        .map(({ feature }) => feature)
        .sort(),
    ).toEqual(['never', 'silent']);
    expect(stale(clock.now() + dayMs)).toEqual([]);
    clock.advance(31 * dayMs);
    const names = stale(start).map(({ feature }) => feature);
    expect(names.sort()).toEqual(['busy', 'never', 'silent', 'snoozed']);
  });

  test('watchReport lists the refusals that are findings since a time, by environment and reason', async () => {
    const { find, clock, store, write, application, production, directory } = await openReport();
    const batch = new Batch();
    const ledger = new Ledger({ store, clock, findLane: () => batch });
    const { createKey } = await import('../../src/accounts/application-keys.ts');
    const { text } = await createKey(directory, application.id, { type: 'Frontend' });
    const holder = directory.findKey(text)!;
    const refuse = (code: 'origin_missing' | 'rate_limited', environment: string, userAgent: string) =>
      ledger.refused(
        new Refusal(code, 'no'),
        { route: 'telemetry', transport: 'http', userAgent },
        { holder, environment },
      );
    ledger.accepted({ route: 'telemetry', transport: 'http', userAgent: 'b', application, environment: production });
    for (const sender of ['a', 'b', 'c']) refuse('origin_missing', 'Production', sender);
    refuse('rate_limited', 'Nowhere', 'a');
    const lastAt = clock.now();
    write(batch.seal());
    const { refused } = find({ refusedFrom: lastAt - 1000 });
    const when = { lastAt, since: lastAt, quietMs: silentMs };
    expect(refused).toHaveLength(2);
    expect(refused).toEqual(
      expect.arrayContaining([
        { environment: 'Production', code: 'origin_missing', status: 403, count: 2, senders: ['a', 'c'], ...when },
        { environment: null, code: 'rate_limited', status: 429, count: 1, senders: ['a'], ...when },
      ]),
    );
    expect(find({ refusedFrom: lastAt + 1 }).refused).toEqual([]);
  });
});
