import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { finishExperiment, planExperiment, stopExperiment } from '../../src/accounts/experiments.ts';
import { doneMs, healthKinds, healthRules, refusing, severities, silentMs } from '../../src/contract/health.ts';
import { exampleFigures } from '../../src/contract/shapes/experiment-figures.ts';
import { type Health, maxSubjects } from '../../src/contract/shapes/health.ts';
import type { Caller } from '../../src/management/access.ts';
import { accountFindings, computeHealth, type Facts, noFeatures } from '../../src/management/health.ts';
import { openFixture, testClock } from '../accounts/fixture.ts';
import { createApplication, createKey, manage, postJson, token } from '../support/binary.ts';
import { opened } from '../support/opened.ts';
import { startLocal } from '../support/service.ts';

const dayMs = 86_400_000;
const clock = testClock(Date.UTC(2026, 0, 2, 3, 4, 5));

const service = opened(() => startLocal({ clock }));

async function openShop() {
  const access = () => token(service.http, service.credentials);
  const ask = async (method: string, path: string, status: number, body?: object) =>
    manage(service.http, await access(), method, path, status, body);
  const id = await createApplication(service.http, await access(), { name: 'shop', acceptClientIdentities: true });
  const { key: frontend } = await createKey(service.http, await access(), id, 'Frontend');
  const backend = await createKey(service.http, await access(), id, 'Backend');
  const path = `/api/v2/applications/${id}`;
  return {
    id,
    ask,
    path,
    frontend,
    backend,
    /** Returns a newly computed health. */
    async health(query = '?environment=Production'): Promise<Health> {
      clock.advance(20_000);
      return (await ask('GET', `${path}/health${query}`, 200)) as Health;
    },
    async send(
      f: object,
      {
        key = frontend,
        environment = 'Production',
        u = '',
        userAgent = 'web/2.1',
        origin = 'https://shop.example',
      } = {},
    ): Promise<number> {
      return postJson(
        `http://${service.http}/api/frontend/telemetry`,
        { k: key, e: environment, f, ...(u && { u }) },
        { origin, 'user-agent': userAgent },
      );
    },
  };
}

const listKinds = ({ items }: Health) => items.map(({ kind, count }) => `${kind} ${count}`);

test('an environment is healthy only once it receives data', async () => {
  const { id, health, send } = await openShop();
  const before = await health();
  expect(before).toMatchObject({ status: 'info', lastReceivedAt: null, flags: 0 });
  expect(before.items).toMatchObject([
    { kind: 'not_set_up', text: 'set up', action: 'Set up', link: `/apps/${id}/Production/connect` },
  ]);
  expect(await send({ checkout: { on: [1], off: [1] } })).toBe(202);
  clock.advance(20_000);
  expect(await health()).toMatchObject({ status: 'ok', flags: 1, items: [] });
  // At first, an environment without data affects only its own health, not the health of the application.
  expect(await health('')).toMatchObject({ environment: null, status: 'ok' });
  expect(listKinds(await health('?environment=Staging'))).toEqual(['not_set_up 1']);
  clock.advance(silentMs);
  expect(listKinds(await health(''))).toEqual(['nothing_received 1']);
});

test('a leaked key is an urgent finding with a link until the key is deleted', async () => {
  const { id, ask, path, health, send, backend } = await openShop();
  await send({ checkout: { on: [1], off: [1] } });
  expect(await send({ checkout: { on: [1] } }, { key: backend.key })).toBe(404);
  const { status, items } = await health();
  expect(status).toBe('urgent');
  expect(items[0]).toMatchObject({
    kind: 'key_leaked',
    severity: 'urgent',
    count: 1,
    text: 'key leaked',
    subjects: [{ type: 'key', id: backend.id }],
    link: `/settings/application?app=${id}&key=${backend.id}`,
    sentence: 'Key Backend was sent by a browser once',
    action: 'Replace key',
  });
  // The refusals of a leaked key are no second finding, even if the sender is refused entirely.
  expect(listKinds(await health())).toEqual(['key_leaked 1']);
  await ask('DELETE', `${path}/keys/${backend.id}`, 204);
  expect(listKinds(await health())).not.toContain('key_leaked 1');
});

test('ten refusals of a sender are a finding until an hour passes without refusals', async () => {
  const { health, send, id } = await openShop();
  await send({ checkout: { on: [1], off: [1] } });
  const refuse = (count: number) =>
    Promise.all(Array.from({ length: count }, () => send({ checkout: { on: [1] } }, { environment: 'Prod' })));
  await refuse(refusing.least - 1);
  clock.advance(20_000);
  expect(listKinds(await health())).toEqual([]);
  await refuse(1);
  // Wait, because refusals are committed only with the next batch.
  const item = await vi.waitFor(async () => {
    const { items } = await health();
    expect(items).toHaveLength(1);
    return items[0];
  });
  expect(item).toMatchObject({
    kind: 'senders_refused',
    count: 1,
    text: '1 sender refused: unknown environment',
    sentence: 'web was refused 10 times: unknown environment',
    messages: refusing.least,
    subjects: [{ type: 'sender', id: null, name: 'web' }],
    link: `/apps/${id}/Production/ingest?outcome=refused&reason=unknown_environment&range=24h&sender=web`,
  });
  clock.advance(refusing.quietMs);
  expect(listKinds(await health())).toEqual([]);
});

test('a sender of only refused messages is one finding per cause, even after a single refusal', async () => {
  const { health, send, id } = await openShop();
  await send({ checkout: { on: [1], off: [1] } });
  const cron = { userAgent: 'cron/1.0' };
  expect(await send({ checkout: { on: [1] } }, { ...cron, environment: 'Prod' })).toBe(404);
  expect(await send({ checkout: { on: [1] } }, { ...cron, origin: '' })).toBe(403);
  expect(await send({ checkout: { on: [1] } }, { environment: 'Prod' })).toBe(404); // web/2.1 also sends correctly.
  const items = await vi.waitFor(async () => {
    const { items } = await health();
    expect(items).toHaveLength(2);
    return items;
  });
  const link = `/apps/${id}/Production/ingest?outcome=refused&reason=`;
  expect(items.map(({ sentence }) => sentence).sort()).toEqual([
    'cron was refused once: origin missing',
    'cron was refused once: unknown environment',
  ]);
  expect(items.map(({ link }) => link).sort()).toEqual([
    `${link}origin_missing&range=24h&sender=cron`,
    `${link}unknown_environment&range=24h&sender=cron`,
  ]);
  clock.advance(refusing.quietMs);
  await send({ checkout: { on: [1] } }, cron);
  await vi.waitFor(async () => expect(await health()).toMatchObject({ items: [] }));
});

test('the health counts flags by verdict, and a declaration takes effect immediately', async () => {
  const { id, ask, path, health, send } = await openShop();
  await ask('POST', `${path}/features`, 201, { name: 'checkout' });
  await send({ checkout: { on: [1], off: [1] }, chekout: { on: [1], off: [1] }, search: { on: [1] } });
  clock.advance(8 * dayMs);
  await send({ checkout: { on: [1], off: [1] }, chekout: { on: [1], off: [1] } });
  clock.advance(25 * dayMs);
  await send({ checkout: { on: [1], off: [1] }, chekout: { on: [1], off: [1] } });
  clock.advance(20_000);
  expect(listKinds(await health())).toEqual(['flags_can_go 1', 'undeclared 2']);
  // The flags of all environments are on the page that compares the environments.
  const everywhere = (await health('')).items.find(({ kind }) => kind === 'undeclared');
  expect(everywhere!.link).toBe(`/apps/${id}/Production/flags?state=undeclared&by=environment`);
  for (const environment of ['Production', 'Staging']) {
    const { items } = await health(`?environment=${environment}`);
    const { count, link } = items.find(({ kind }) => kind === 'flags_can_go')!;
    expect(await ask('GET', `${path}/cleanup`, 200)).toMatchObject({ total: count });
    expect(link).toBe(`/apps/${id}/${environment}/cleanup`);
  }
  await ask('PATCH', `${path}/features/search`, 200, { archived: true });
  const declared = (await ask('GET', `${path}/health`, 200)) as Health;
  expect(listKinds(declared)).toEqual(['undeclared 1']);
  clock.advance(60_000);
  await send({ search: { on: [1] }, checkout: { on: [1], off: [1] } });
  expect(listKinds(await health())).toEqual(['archived_but_asked 1', 'undeclared 1']);
});

test('a wrong split of users is a warning until the intended split is changed', async () => {
  const { id, ask, path, health, send } = await openShop();
  const split = { on: 1, off: 1 };
  await ask('POST', `${path}/features`, 201, { name: 'checkout' });
  await ask('PATCH', `${path}/features/checkout`, 200, { split });
  clock.advance(dayMs);
  const given = (person: number) => (person % 4 === 0 ? 'off' : 'on');
  const people = Array.from({ length: 200 }, (_, person) => person);
  await Promise.all(people.map((person) => send({ checkout: { [given(person)]: [1] } }, { u: `person-${person}` })));
  clock.advance(20_000);
  const item = (await health()).items.find(({ kind }) => kind === 'split_mismatch');
  expect(item).toMatchObject({ severity: 'warning', text: '1 split is off' });
  expect(item!.link).toBe(`/apps/${id}/Production/flag?name=checkout`);
  await ask('PATCH', `${path}/features/checkout`, 200, { split: { on: 3, off: 1 } });
  clock.advance(dayMs);
  expect(listKinds(await health())).not.toContain('split_mismatch 1');
});

test('a finished experiment is reported for a week, and a stopped experiment is not reported', async () => {
  const { directory, application, clock } = await openFixture();
  const { id, environments } = application;
  const plan = (feature: string) =>
    planExperiment(directory, id, feature, {
      name: feature,
      hypothesis: null,
      environment: environments[0]!.number,
      base: 'off',
      split: null,
      startAt: clock.now(),
      endAt: clock.now() + 9 * dayMs,
      users: null,
      metric: 'used',
      direction: 'up',
      guardrails: [],
    });
  const met = await plan('checkout');
  const stopped = await plan('search');
  const itemsIn = (only?: string) => {
    const viewer = { roleIn: () => 'Viewer' } as unknown as Caller;
    const data = { environments: [], all: noFeatures, refused: [] };
    const findings = accountFindings(directory, application, viewer);
    const rest = { application, only, data, now: clock.now(), completeThrough: undefined };
    return computeHealth({ ...findings, ...rest }).items;
  };
  await stopExperiment(directory, id, stopped.experiment.id, 'Too many errors', exampleFigures);
  clock.advance(10 * dayMs);
  expect(itemsIn()).toEqual([]);
  await finishExperiment(directory, id, met, exampleFigures);
  const { name } = environments[0]!;
  expect(itemsIn(name)).toMatchObject([
    {
      kind: 'experiment_done',
      severity: 'info',
      count: 1,
      text: '1 experiment has finished: better: ship',
      subjects: [{ type: 'experiment', id: met.experiment.id, name: 'checkout' }],
      environment: name,
      link: `/apps/${id}/${name}/experiment?id=${met.experiment.id}`,
      sentence: `Experiment checkout has finished: ${exampleFigures.text}`,
      conclusion: { outcome: 'better', decision: 'ship' },
      owners: ['Team'],
      since: new Date(clock.now()).toISOString(),
    },
  ]);
  expect(itemsIn('Another')).toEqual([]);
  clock.advance(doneMs);
  expect(itemsIn()).toEqual([]);
});

test('a request for the health of an unknown environment is refused', async () => {
  const { ask, path } = await openShop();
  await ask('GET', `${path}/health?environment=Prod`, 404);
});

const found = fc.record({ count: fc.nat(9), names: fc.constant([] as string[]) });
const foundFeatures = {
  flags: fc.nat(99),
  found: fc.record({ archived_but_asked: found, flags_can_go: found, split_mismatch: found, undeclared: found }),
};
const now = 100 * dayMs;
const environment = fc.constantFrom('Production', 'Staging');
const facts: fc.Arbitrary<Facts> = fc.record({
  application: fc.constant({
    id: 'app_1',
    teamId: 'team_1',
    environments: [
      { name: 'Production', number: 1, createdAt: 0 },
      { name: 'Staging', number: 2, createdAt: 0 },
    ],
  }),
  only: fc.option(environment, { nil: undefined }),
  now: fc.constant(now),
  completeThrough: fc.option(fc.integer({ min: now - 200_000, max: now }), { nil: undefined }),
  ownersOf: fc.constant(() => []),
  leaked: fc.array(
    fc.record({
      id: fc.string(),
      name: fc.string(),
      prefix: fc.string(),
      leakedAt: fc.constant(now),
      refused: fc.constant(undefined),
    }),
  ),
  done: fc.array(
    fc.record({
      id: fc.constant('1'),
      name: fc.string(),
      environment: fc.constantFrom('Production', null),
      at: fc.constant(now),
      outcome: fc.constant('better'),
      decision: fc.constant('ship' as const),
      text: fc.string(),
    }),
    { maxLength: 9 },
  ),
  expiring: fc.array(fc.record({ clientId: fc.string(), name: fc.string() })),
  data: fc.record({
    environments: fc.uniqueArray(
      fc.record({
        name: environment,
        lastReceivedAt: fc.option(fc.integer({ min: now - 2 * dayMs, max: now })),
        ...foundFeatures,
      }),
      { selector: ({ name }) => name },
    ),
    all: fc.record(foundFeatures),
    refused: fc.array(
      fc.record({
        environment: fc.option(environment),
        code: fc.string(),
        count: fc.nat(99),
        since: fc.option(fc.constant(now), { nil: undefined }),
        senders: fc.array(fc.string(), { minLength: 1 }),
        status: fc.constant(404),
        lastAt: fc.constant(now),
        quietMs: fc.constant(refusing.quietMs),
      }),
    ),
  }),
});

test('findings are ordered by severity and kind, and the first finding determines the status', () => {
  fc.assert(
    fc.property(facts, (each) => {
      const { status, items } = computeHealth(each);
      const ranks = items.map(({ severity }) => severities.indexOf(severity));
      expect(ranks).toEqual([...ranks].sort());
      const places = items.map(({ kind }) => healthKinds.indexOf(kind));
      expect(places).toEqual([...places].sort((a, b) => a - b));
      expect(status).toBe(items[0]?.severity ?? 'ok');
      for (const { kind, severity, count, subjects, link } of items) {
        expect(count).toBeGreaterThan(0);
        expect(severity).toBe(healthRules[kind].severity);
        expect(subjects.length).toBeLessThanOrEqual(Math.min(count, maxSubjects));
        expect(link).toMatch(/^\//);
      }
      if (each.leaked.length > 0) expect(status).toBe('urgent');
      const lasts = each.data.environments.filter(({ name }) => each.only === undefined || name === each.only);
      if (lasts.every(({ lastReceivedAt }) => lastReceivedAt === null)) expect(status).not.toBe('ok');
    }),
  );
});
