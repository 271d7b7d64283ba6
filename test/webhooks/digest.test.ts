import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createApplication } from '../../src/accounts/applications.ts';
import { patchFeature } from '../../src/accounts/features.ts';
import { eventMessage } from '../../src/contract/webhook-events.ts';
import type { Words } from '../../src/contract/words.ts';
import { digestKey } from '../../src/webhooks/announcements.ts';
import type { FoundForDigest } from '../../src/webhooks/findings.ts';
import { sweepRound } from '../../src/webhooks/sweep.ts';
import { digestTime, Watch, type WatchDeps } from '../../src/webhooks/watch.ts';
import { testLog } from '../accounts/store/postgres-fixture.ts';
import { dayMs, openWebhooks } from './fixture.ts';
import { nothingFound } from './nothing-found.ts';

const conclusion = 'Better by 4.0 points with on (3.1 to 4.9), 14 days: ship';

const found: FoundForDigest = {
  ...nothingFound,
  found: { ...nothingFound.found, flags_can_go: { count: 12, names: ['old-0'] } },
  experiments: [
    {
      id: '1',
      name: 'One page',
      environment: 'Production',
      at: 0,
      outcome: 'better',
      decision: 'ship',
      text: conclusion,
    },
  ],
  removable: Array.from({ length: 12 }, (_, at) => ({
    feature: `old-${at}`,
    kind: 'safe_to_remove',
    since: '2026-01-01T00:00:00.000Z',
    variant: null,
  })),
};

const plain = (words: Words) => words.map((part) => (typeof part === 'string' ? part : part.name)).join('');

async function openDigest() {
  const fixture = await openWebhooks();
  const { directory, team, clock } = fixture;
  const application = await createApplication(directory, { name: 'Shop', teamId: team.id });
  const owners = [{ type: 'text', name: 'QA' }] as const;
  await patchFeature(directory, application.id, 'old-0', { owners });
  const newWatch = (deps: Partial<WatchDeps> = {}) =>
    new Watch({
      ...fixture,
      log: testLog(),
      staleAfterMs: 30 * dayMs,
      find: async () => ({ firstSeen: [], stale: [], verdicts: [], refused: [] }),
      findForDigest: async () => found,
      completeThrough: async () => undefined,
      refusals: () => new Map(),
      pause: async () => true,
      ...deps,
    });
  const { webhook } = await fixture.hook('https://hooks.example.com/', ['digest.weekly']);
  const queued = () => fixture.deliveries(webhook.id).map(({ body }) => JSON.parse(body));
  /** Advances the clock to the next Monday at 8:00 UTC. @param more further ms */
  const nextMonday = (more = 0) => clock.advance(digestTime(clock.now()) + 7 * dayMs - clock.now() + more);
  return { ...fixture, application, newWatch, queued, nextMonday };
}

test('the time of a digest is the latest Monday at 8:00 UTC', () => {
  fc.assert(
    fc.property(fc.integer({ min: Date.UTC(2000), max: Date.UTC(2100) }), (now) => {
      const at = new Date(digestTime(now));
      expect([at.getUTCDay(), at.getUTCHours(), at.getTime() % 3_600_000]).toEqual([1, 8, 0]);
      expect(now - at.getTime()).toBeGreaterThanOrEqual(0);
      expect(now - at.getTime()).toBeLessThan(7 * dayMs);
    }),
  );
});

test('each week has one digest, even with several nodes and after a restart', async () => {
  const { newWatch, queued, nextMonday, clock, team, application } = await openDigest();
  const nodes = [newWatch(), newWatch()];
  const round = () => Promise.all(nodes.map((node) => node.round()));
  await round();
  // The team has subscribed after the last Monday.
  expect(queued()).toEqual([]);
  nextMonday(3_600_000);
  await round();
  const [digest] = queued();
  expect(digest).toMatchObject({
    type: 'digest.weekly',
    data: {
      team: { id: team.id },
      week: { to: new Date(digestTime(clock.now())).toISOString() },
      applications: [
        {
          application: { id: application.id },
          counts: { flags: 3, canGo: 12, cannotGoYet: 0, undeclared: 1, archivedButAsked: 0 },
          experiments: [{ experiment: { id: '1', name: 'One page' }, outcome: 'better', verdict: conclusion }],
        },
      ],
      applicationsLeftOut: 0,
    },
  });
  const { sentence, facts, page } = eventMessage('digest.weekly', digest.data);
  expect(plain(sentence)).toBe('Weekly digest of the team Team: 12 flags can be removed');
  expect(facts.map(([label, value]) => `${label}: ${plain(value)}`)).toEqual(
    expect.arrayContaining([
      'Application: Shop: 3 flags, 12 flags can be removed, 1 unknown flag',
      `Experiment: One page of Shop: ${conclusion}`,
    ]),
  );
  expect(page).toEqual({ path: ['apps', application.id], query: { page: 'cleanup' } });
  const { canGo } = digest.data.applications[0];
  expect(canGo).toHaveLength(10);
  expect(canGo[0]).toMatchObject({ feature: 'old-0', owners: [{ type: 'text', name: 'QA' }] });
  clock.advance(2 * dayMs);
  await round();
  await newWatch().round();
  expect(queued()).toHaveLength(1);
  nextMonday();
  await round();
  expect(queued()).toHaveLength(2);
});

test('a digest is postponed while counts of other nodes are missing, and after a failure', async () => {
  const { newWatch, queued, nextMonday, clock } = await openDigest();
  nextMonday(60_000);
  await newWatch({ completeThrough: async () => clock.now() - 120_000 }).round();
  expect(queued()).toEqual([]);
  const failing = async () => {
    throw new Error('away');
  };
  await newWatch({ findForDigest: failing }).round();
  expect(queued()).toEqual([]);
  await newWatch({ completeThrough: async () => clock.now() }).round();
  expect(queued()).toHaveLength(1);
});

test('the record of a sent digest is removed with its team', async () => {
  const { accountStore, store, clock, team } = await openDigest();
  const keys = [digestKey(team.id), digestKey('team_gone')] as const;
  await accountStore.change((tx) => {
    for (const key of keys) tx.put('webhookMarks', key, { at: clock.now() });
  });
  const pauses = { pause: async () => true, failed: () => {} };
  await sweepRound({ accounts: store, accountStore, clock, ...pauses });
  expect(keys.map((key) => accountStore.get('webhookMarks', key) !== undefined)).toEqual([true, false]);
});
