import { describe, expect, test } from 'vitest';
import { createApiKey, patchApiKey } from '../../src/accounts/api-keys.ts';
import { createKey } from '../../src/accounts/application-keys.ts';
import { createApplication } from '../../src/accounts/applications.ts';
import { refusing, silentMs } from '../../src/contract/health.ts';
import type { RefusalCode } from '../../src/contract/refusals.ts';
import type { WebhookEventType } from '../../src/contract/webhook-events.ts';
import type { Application } from '../../src/storage/lmdb/records.ts';
import type { Findings, WatchTask } from '../../src/webhooks/findings.ts';
import { Watch, type WatchDeps } from '../../src/webhooks/watch.ts';
import { testLog } from '../accounts/store/postgres-fixture.ts';
import { openWebhooks, type WebhookFixture } from './fixture.ts';
import { nothingFound } from './nothing-found.ts';

const dayMs = 24 * 3_600_000;
const nothing: Findings = { firstSeen: [], stale: [], verdicts: [], refused: [] };
const production = { name: 'Production', number: 1 };

interface WatchFixture extends WebhookFixture {
  readonly application: Application;
  /** The findings of the next rounds. */
  found: Findings;
  readonly tasks: WatchTask[];
  readonly refusals: Map<RefusalCode, number>;
  newWatch(deps?: Partial<WatchDeps>): Watch;
  /** The events queued for a webhook, earliest first. */
  queued(webhookId: string): { type: string; data: Record<string, unknown> }[];
}

async function openWatch(): Promise<WatchFixture> {
  const fixture = await openWebhooks();
  const { directory, team } = fixture;
  const application = await createApplication(directory, { name: 'Shop', teamId: team.id });
  const opened: WatchFixture = {
    ...fixture,
    application,
    found: nothing,
    tasks: [],
    refusals: new Map(),
    newWatch: (deps = {}) =>
      new Watch({
        ...fixture,
        log: testLog(),
        staleAfterMs: 1000,
        find: async (task) => {
          opened.tasks.push(task);
          return opened.found;
        },
        findForDigest: async () => nothingFound,
        completeThrough: async () => undefined,
        refusals: () => opened.refusals,
        pause: async () => true,
        ...deps,
      }),
    queued: (id) =>
      fixture
        .deliveries(id)
        .map(({ body }) => JSON.parse(body))
        .reverse(),
  };
  return opened;
}

const hookFor = (fixture: WebhookFixture, ...events: WebhookEventType[]) =>
  fixture.hook('https://hooks.example.com/', events);

describe('a flag seen for the first time', () => {
  const seen = (feature: string, at: number) => ({ environment: production, feature, at });

  test('a new flag is announced once, even if several nodes find it several times', async () => {
    const fixture = await openWatch();
    const { webhook } = await hookFor(fixture, 'flag.first_seen');
    const at = fixture.clock.now();
    fixture.found = { ...nothing, firstSeen: [seen('checkout', at)] };
    const watches = [fixture.newWatch(), fixture.newWatch()];
    await Promise.all(watches.map((watch) => watch.round()));
    for (const watch of [...watches, fixture.newWatch()]) await watch.round();
    const { application, team } = fixture;
    expect(fixture.queued(webhook.id)).toEqual([
      {
        type: 'flag.first_seen',
        timestamp: new Date(at).toISOString(),
        data: {
          team: { id: team.id, name: 'Team' },
          application: { id: application.id, name: 'Shop' },
          environment: 'Production',
          feature: 'checkout',
          firstSeenAt: new Date(at).toISOString(),
          owners: [],
        },
      },
    ]);
  });

  test('a flag seen more than a minute before the subscription is not announced', async () => {
    const fixture = await openWatch();
    const { clock } = fixture;
    const before = clock.now() - 61_000;
    const { webhook } = await hookFor(fixture, 'flag.first_seen');
    const late = await hookFor(fixture, 'key.leaked');
    fixture.found = { ...nothing, firstSeen: [seen('old', before), seen('new', clock.now() - 59_000)] };
    await fixture.newWatch().round();
    expect(fixture.queued(webhook.id).map(({ data }) => data['feature'])).toEqual(['new']);
    expect(fixture.queued(late.webhook.id)).toEqual([]);
    expect(fixture.tasks[0]).toMatchObject({ staleFrom: null, verdictsFrom: null, refusedFrom: null });
  });

  test('many new flags are announced in batches', async () => {
    const fixture = await openWatch();
    const { webhook } = await hookFor(fixture, 'flag.first_seen');
    const names = Array.from({ length: 250 }, (_, at) => `feature-${at}`);
    fixture.found = { ...nothing, firstSeen: names.map((name) => seen(name, fixture.clock.now())) };
    const watch = fixture.newWatch();
    for (const told of [100, 200, 250, 250]) {
      await watch.round();
      expect(fixture.queued(webhook.id)).toHaveLength(told);
    }
    expect(new Set(fixture.queued(webhook.id).map(({ data }) => data['feature'])).size).toBe(250);
  });
});

test('an application whose data cannot be read does not delay the announcements of other applications', async () => {
  const fixture = await openWatch();
  const { directory, team, clock, application } = fixture;
  await createApplication(directory, { name: 'Next', teamId: team.id });
  const { webhook } = await hookFor(fixture, 'flag.first_seen');
  const find = async ({ application: number }: WatchTask): Promise<Findings> => {
    if (number === application.number) throw new Error('the store is damaged');
    return { ...nothing, firstSeen: [{ environment: production, feature: 'checkout', at: clock.now() }] };
  };
  await fixture.newWatch({ find }).round();
  expect(fixture.queued(webhook.id)).toMatchObject([{ data: { application: { name: 'Next' } } }]);
});

test('flags that were announced already are skipped in batches', async () => {
  const fixture = await openWatch();
  const { webhook } = await hookFor(fixture, 'flag.first_seen');
  const at = fixture.clock.now();
  const flood = Array.from({ length: 250 }, (_, index) => ({ environment: production, feature: `flood-${index}`, at }));
  fixture.found = { ...nothing, firstSeen: flood };
  const watch = fixture.newWatch();
  for (let round = 0; round < 3; round += 1) await watch.round();
  let pauses = 0;
  const pause = async () => {
    pauses += 1;
    return true;
  };
  await fixture.newWatch({ pause }).round();
  expect(fixture.queued(webhook.id)).toHaveLength(250);
  expect(pauses, 'after each hundred, and after the application').toBe(3);
});

test('a stale flag is announced once, and again if the flag is used and becomes stale again', async () => {
  const fixture = await openWatch();
  const { webhook } = await hookFor(fixture, 'flag.stale');
  const watch = fixture.newWatch();
  const look = async (ago: number, lastSeenAt: number | null) => {
    const since = fixture.clock.now() - ago;
    fixture.found = { ...nothing, stale: [{ feature: 'old', since, lastSeenAt }] };
    await watch.round();
    return fixture.queued(webhook.id).length;
  };
  fixture.clock.advance(1000);
  expect(await look(10, null)).toBe(1);
  fixture.clock.advance(5000);
  expect(await look(5005, 1), 'the same, known better').toBe(1);
  expect(await look(10, 2)).toBe(2);
  expect(await look(10, 2)).toBe(2);
  expect(fixture.queued(webhook.id)[0]).toMatchObject({ type: 'flag.stale', data: { lastSeenAt: null } });
});

describe('refused messages', () => {
  const refused = (count: number, lastAt: number, quietMs: number = refusing.quietMs): Findings => {
    const senders = ['web', 'cron', 'a', 'b', 'c', 'd'];
    const cause = { environment: null, code: 'unknown_environment', status: 404 };
    return { ...nothing, refused: [{ ...cause, count, since: lastAt, lastAt, quietMs, senders }] };
  };

  test('refused messages are announced when the refusals start, and not while they continue', async () => {
    const fixture = await openWatch();
    const { webhook } = await hookFor(fixture, 'ingest.refusing');
    const watch = fixture.newWatch();
    const look = async (minutes: number, count: number) => {
      fixture.clock.advance(minutes * 60_000);
      fixture.found = refused(count, fixture.clock.now());
      await watch.round();
      return fixture.queued(webhook.id).length;
    };
    expect(await look(1, 10)).toBe(1);
    for (let hour = 0; hour < 3; hour += 1) expect(await look(40, 1000)).toBe(1);
    expect(await look(61, 1000), 'after an hour without any').toBe(2);
    expect(fixture.queued(webhook.id)[0]!.data).toMatchObject({
      application: { name: 'Shop' },
      environment: null,
      code: 'unknown_environment',
      status: 404,
      title: 'The application has no such environment',
      count: 10,
      senders: ['web', 'cron', 'a', 'b', 'c'],
      sendersLeftOut: 1,
    });
  });

  test('a sender that is always refused is announced again only after a day without refusals', async () => {
    const fixture = await openWatch();
    const { webhook } = await hookFor(fixture, 'ingest.refusing');
    const watch = fixture.newWatch();
    const look = async (hours: number) => {
      fixture.clock.advance(hours * 3_600_000);
      fixture.found = refused(1, fixture.clock.now(), silentMs);
      await watch.round();
      return fixture.queued(webhook.id).length;
    };
    expect(await look(1)).toBe(1);
    expect(await look(23)).toBe(1);
    expect(await look(24)).toBe(2);
  });

  test('refused messages are announced before a flood of new flags', async () => {
    const fixture = await openWatch();
    const { clock } = fixture;
    const { webhook } = await hookFor(fixture, 'flag.first_seen', 'ingest.refusing');
    const firstSeen = Array.from({ length: 500 }, (_, index) => {
      return { environment: production, feature: `flood-${index}`, at: clock.now() };
    });
    fixture.found = { ...refused(10, clock.now()), firstSeen };
    await fixture.newWatch().round();
    expect(fixture.queued(webhook.id)[0]!.type).toBe('ingest.refusing');
  });

  test('every team is notified if the service refuses all messages, even after a failed write', async () => {
    const fixture = await openWatch();
    const { webhook } = await hookFor(fixture, 'ingest.refusing');
    const watch = fixture.newWatch();
    await watch.round();
    fixture.refusals.set('store_unavailable', 500).set('unknown_key', 500);
    const { change } = fixture.directory;
    const full = { ...fixture.directory, change: () => Promise.reject(new Error('full')) };
    Object.assign(fixture.directory, full);
    await expect(watch.round()).rejects.toThrow('full');
    Object.assign(fixture.directory, { change });
    await watch.round();
    await watch.round();
    expect(fixture.queued(webhook.id)).toMatchObject([
      { type: 'ingest.refusing', data: { application: null, code: 'store_unavailable', count: 500 } },
    ]);
  });
});

test('a leaked key is announced once', async () => {
  const fixture = await openWatch();
  const { directory, application } = fixture;
  const { webhook } = await hookFor(fixture, 'key.leaked');
  const { key, text } = await createKey(directory, application.id, { type: 'Backend', name: 'Server' });
  const holder = directory.findKey(text)!;
  directory.recordLeak(holder);
  directory.recordLeak(holder);
  await directory.flush();
  directory.recordLeak(holder);
  await directory.flush();
  expect(fixture.queued(webhook.id)).toMatchObject([
    {
      type: 'key.leaked',
      data: {
        application: { id: application.id },
        key: { id: key.id, name: 'Server', prefix: key.prefix },
        leakedAt: '2026-01-02T03:04:05.000Z',
      },
    },
  ]);
  expect(JSON.stringify(fixture.queued(webhook.id))).not.toContain(text);
});

test('the expiry of an API key is announced 14 days and one day ahead, and again if its date changes', async () => {
  const fixture = await openWatch();
  const { directory, team, clock } = fixture;
  const { webhook } = await hookFor(fixture, 'api-key.expiring');
  const expiresAt = clock.now() + 15 * dayMs;
  const wanted = { teamId: team.id, name: 'Dashboard', role: 'Viewer' } as const;
  const { apiKey } = await createApiKey(directory, { ...wanted, expiresAt });
  await createApiKey(directory, wanted);
  const watches = [fixture.newWatch(), fixture.newWatch()];
  const days = async () => {
    await Promise.all(watches.map((watch) => watch.round()));
    return fixture.queued(webhook.id).map(({ data }) => data['daysLeft']);
  };
  expect(await days()).toEqual([]);
  clock.advance(dayMs);
  expect(await days()).toEqual([14]);
  clock.advance(12 * dayMs);
  expect(await days()).toEqual([14]);
  clock.advance(dayMs);
  expect(await days()).toEqual([14, 1]);
  const moved = { expiresAt: clock.now() + 3 * dayMs };
  await patchApiKey(directory, { teamId: team.id, clientId: apiKey.clientId }, moved);
  expect(await days()).toEqual([14, 1, 3]);
  clock.advance(4 * dayMs);
  expect(await days()).toEqual([14, 1, 3]);
  const [first] = fixture.queued(webhook.id);
  expect(first?.data).toMatchObject({
    apiKey: { id: apiKey.clientId, name: 'Dashboard' },
    expiresAt: new Date(expiresAt).toISOString(),
  });
});
