import { expect, onTestFinished, test } from 'vitest';
import { createApplication } from '../../src/accounts/applications.ts';
import { declareFeature, patchFeature } from '../../src/accounts/features.ts';
import { addPacket } from '../../src/ingest/formats/telemetry/add-packet.ts';
import { checkPacket } from '../../src/ingest/formats/telemetry/packet.ts';
import { watchReport } from '../../src/reports/verdicts/findings.ts';
import { createAggregator } from '../../src/storage/commit/aggregator.ts';
import { Batch } from '../../src/storage/commit/batch.ts';
import { SeriesDictionary } from '../../src/storage/commit/series-dictionary.ts';
import { putSpans, slotMs } from '../../src/storage/lmdb/senders.ts';
import { environmentOrdinal } from '../../src/storage/lmdb/sketches.ts';
import { openUsageTables } from '../../src/storage/lmdb/usage.ts';
import type { Find, WatchTask } from '../../src/webhooks/findings.ts';
import { Watch, type WatchDeps } from '../../src/webhooks/watch.ts';
import { deleteWebhook } from '../../src/webhooks/webhooks.ts';
import { testLog } from '../accounts/store/postgres-fixture.ts';
import { finish } from '../support/finish.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { dayMs, openWebhooks } from './fixture.ts';
import { nothingFound } from './nothing-found.ts';
import { openReceiver, verified } from './receiver.ts';

/** Opens a webhook with a real receiver, and an application whose counts are in a real store. */
async function open() {
  const fixture = await openWebhooks();
  const { directory, clock, team } = fixture;
  const application = await createApplication(directory, { name: 'Shop', teamId: team.id });
  const usage = openUsageTables(temporaryDirectory());
  onTestFinished(() => usage.lmdb.close());
  const { write } = createAggregator(usage);
  const dictionary = new SeriesDictionary(usage, { features: 3000, variants: 9, metrics: 9 });
  const [production] = application.environments as [(typeof application.environments)[0]];
  const receiver = await openReceiver();
  const hook = () => fixture.hook(`http://127.0.0.1:${receiver.port}/`, ['flag.verdict_changed']);
  const tasks: WatchTask[] = [];
  const find: Find = async (task) => {
    tasks.push(task);
    return finish(watchReport(usage, task));
  };
  const opened = {
    ...fixture,
    application,
    receiver,
    hook,
    find,
    tasks,
    newWatch: (deps: Partial<WatchDeps> = {}) =>
      new Watch({
        ...fixture,
        log: testLog(),
        staleAfterMs: 30 * dayMs,
        find,
        findForDigest: async () => nothingFound,
        completeThrough: async () => undefined,
        refusals: () => new Map(),
        pause: async () => true,
        ...deps,
      }),
    see(...features: string[]) {
      const f = Object.fromEntries(features.map((feature) => [feature, { on: [1], off: [1] }]));
      const batch = new Batch();
      const packet = checkPacket({ k: 'k', e: 'Production', f });
      addPacket(packet, dictionary.of(production.number), batch, clock.now());
      write(batch.seal());
    },
    /** Stores a report of a server. With the ordinal of a feature, the server also checks that feature. */
    report(ordinal = environmentOrdinal) {
      const slot = Math.floor(clock.now() / slotMs);
      const sender = { name: 'web', version: '2', transport: 'http', route: 'usage' } as const;
      putSpans(usage, [{ environment: production.number, ordinal, sender, first: slot, last: slot }]);
    },
    /** Returns the deliveries since the last call, as the receiver gets them. */
    async received(secret: string) {
      await fixture.deliver();
      return receiver.received
        .splice(0)
        .map((one) => verified(one, secret) as { type: string; data: Record<string, unknown> });
    },
  };
  return opened;
}

test('each change of a verdict is delivered once, even if several nodes find it, and after a restart', async () => {
  const { hook, see, report, clock, newWatch, received, application, team } = await open();
  see('old');
  report(0);
  clock.advance(10 * dayMs);
  const { secret } = await hook();
  const nodes = [newWatch(), newWatch()];
  const round = async () => {
    for (const node of nodes) await node.round();
    await newWatch().round();
    return received(secret);
  };
  expect(await round(), 'the first verdict is a baseline').toEqual([]);
  clock.advance(40 * dayMs);
  report();
  const [event, ...others] = await round();
  expect(others).toEqual([]);
  expect(event).toEqual({
    type: 'flag.verdict_changed',
    timestamp: new Date(clock.now()).toISOString(),
    data: {
      team: { id: team.id, name: 'Team' },
      application: { id: application.id, name: 'Shop' },
      feature: 'old',
      previous: 'in_use',
      verdict: 'safe_to_remove',
      basis: 'senders',
      since: '2026-01-02T03:04:00.000Z',
      environments: ['Production'],
      owners: [],
      reasons: [
        expect.objectContaining({ code: 'not_named' }),
        expect.objectContaining({ code: 'senders_report', names: ['web 2'] }),
        expect.objectContaining({ code: 'others_report' }),
        expect.objectContaining({ code: 'undeclared', text: 'It is not declared.' }),
      ],
    },
  });
  expect(await round()).toEqual([]);
  clock.advance(120_000);
  see('old');
  expect((await round()).map(({ data }) => [data['previous'], data['verdict']])).toEqual([
    ['safe_to_remove', 'in_use'],
  ]);
});

test('a verdict that the team changes is announced, and the event of a misspelt flag contains the similar name', async () => {
  const { hook, see, clock, newWatch, received, directory, application } = await open();
  await declareFeature(directory, application.id, { name: 'checkout' });
  see('checkout', 'chekcout');
  const { secret } = await hook();
  const watch = newWatch();
  await watch.round();
  clock.advance(8 * dayMs);
  await patchFeature(directory, application.id, 'checkout', { permanent: true });
  await watch.round();
  const events = await received(secret);
  const shown = events.map(({ data }) => [data['feature'], data['previous'], data['verdict']]).sort();
  expect(shown).toEqual([
    ['checkout', 'new', 'permanent'],
    ['chekcout', 'new', 'in_use'],
  ]);
  const misspelt = events.find(({ data }) => data['feature'] === 'chekcout')!;
  expect(misspelt.data['reasons']).toContainEqual(expect.objectContaining({ code: 'undeclared', names: ['checkout'] }));
});

test('the verdict at the time of a new subscription is not announced, despite an earlier subscription', async () => {
  const { hook, see, clock, newWatch, received, directory, team } = await open();
  see('checkout');
  const first = await hook();
  const watch = newWatch();
  await watch.round();
  await deleteWebhook(directory, { teamId: team.id, id: first.webhook.id });
  clock.advance(8 * dayMs);
  const { secret } = await hook();
  for (let count = 0; count < 3; count += 1) await watch.round();
  expect(await received(secret)).toEqual([]);
  clock.advance(31 * dayMs);
  await watch.round();
  const [event] = await received(secret);
  expect(event?.data).toMatchObject({ previous: 'in_use', verdict: 'cannot_tell', basis: 'silence' });
});

test('a node whose data is older than the last announcement announces nothing', async () => {
  const { hook, see, clock, newWatch, received, find } = await open();
  see('checkout');
  const { secret } = await hook();
  const watch = newWatch();
  await watch.round();
  clock.advance(8 * dayMs);
  await watch.round();
  expect(await received(secret)).toHaveLength(1);
  const behind = newWatch({
    completeThrough: async () => clock.now() - 2 * dayMs,
    find: async (task) => {
      const found = await find(task);
      return { ...found, verdicts: found.verdicts.map((each) => ({ ...each, kind: 'new' as const })) };
    },
  });
  await behind.round();
  expect(await received(secret)).toEqual([]);
});

test('a verdict that was computed from an older declaration is not announced', async () => {
  const { hook, see, clock, newWatch, received, directory, application, find } = await open();
  await declareFeature(directory, application.id, { name: 'checkout' });
  see('checkout');
  const { secret } = await hook();
  await newWatch().round();
  clock.advance(8 * dayMs);
  const change = () => patchFeature(directory, application.id, 'checkout', { permanent: true });
  const slow: Find = async (task) => {
    const found = await find(task);
    if (task.explained !== undefined) await change();
    return found;
  };
  await newWatch({ find: slow }).round();
  expect(await received(secret)).toEqual([]);
  await newWatch().round();
  expect((await received(secret)).map(({ data }) => data['verdict'])).toEqual(['permanent']);
});

test('two thousand flags cause no event in the first round, and at most a hundred events per later round', async () => {
  const { hook, see, clock, newWatch, received, tasks } = await open();
  see(...Array.from({ length: 2000 }, (_, at) => `flag-${at}`));
  const { secret } = await hook();
  const watch = newWatch();
  for (let round = 0; round < 4; round += 1) await watch.round();
  expect(await received(secret)).toEqual([]);
  expect(tasks.every(({ explained }) => explained === undefined)).toBe(true);
  clock.advance(8 * dayMs);
  const counts: number[] = [];
  for (let round = 0; round < 2; round += 1) {
    await watch.round();
    counts.push((await received(secret)).length);
  }
  expect(counts.every((count) => count <= 100)).toBe(true);
  expect(counts[0]).toBeGreaterThan(0);
});
