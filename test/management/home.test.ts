import { beforeAll, expect, test, vi } from 'vitest';
import type { Home } from '../../src/contract/shapes/home.ts';
import type { SearchResults } from '../../src/contract/shapes/search.ts';
import { NameIndex } from '../../src/reports/name-index.ts';
import { putSeries } from '../../src/storage/lmdb/series.ts';
import { testClock } from '../accounts/fixture.ts';
import { createApplication, createKey, manage, postJson, token } from '../support/binary.ts';
import { finish } from '../support/finish.ts';
import { opened } from '../support/opened.ts';
import { startLocal } from '../support/service.ts';
import { temporaryUsage } from '../support/temporary-usage.ts';

const clock = testClock(Date.UTC(2026, 0, 2, 3, 4, 5));

const service = opened(() => startLocal({ clock }));
let shop: Awaited<ReturnType<typeof openApplication>>;
let blog: typeof shop;

beforeAll(async () => {
  shop = await openApplication('shop');
  blog = await openApplication('blog');
  await shop.send({ checkout: { on: [1], off: [1] }, 'new-checkout': { on: [1] } });
  await blog.send({ comments: { on: [1] } });
  await ask('POST', `/api/v2/applications/${shop.id}/features`, 201, { name: 'precheck' });
});

const ask = async (method: string, path: string, status: number, body?: object) =>
  manage(service.http, await token(service.http, service.credentials), method, path, status, body);

async function openApplication(name: string) {
  const access = await token(service.http, service.credentials);
  const id = await createApplication(service.http, access, { name });
  const { key } = await createKey(service.http, access, id, 'Frontend');
  const backend = await createKey(service.http, access, id, 'Backend');
  return {
    id,
    backend,
    async send(f: object, k = key): Promise<number> {
      return postJson(
        `http://${service.http}/api/frontend/telemetry`,
        { k, e: 'Production', f },
        { origin: 'https://shop.example' },
      );
    },
  };
}

/** Reads Home repeatedly until the flags of all applications have verdicts. */
async function readHome(): Promise<Home> {
  return vi.waitFor(async () => {
    clock.advance(10_000);
    const home = (await ask('GET', '/api/v2/home', 200)) as Home;
    expect(home.complete).toBe(true);
    return home;
  });
}

test('GET /home has the messages, rate and findings of every application', async () => {
  const first = await readHome();
  expect(first.applications.map(({ name, status }) => [name, status])).toEqual([
    ['blog', 'ok'],
    ['shop', 'info'],
  ]);
  expect(first.applications[1]).toMatchObject({
    id: shop.id,
    environments: ['Production', 'Staging', 'Development'],
    accepted: 1,
    refused: 0,
    flags: 3,
    flagsThatCanGo: 0,
    leakedKeys: 0,
  });
  expect(first.applications[1]!.hourly.accepted).toHaveLength(24);
  expect(first.items).toMatchObject([{ kind: 'undeclared', application: { name: 'shop' } }]);
  // The rate is the average since an earlier request to Home.
  for (let sent = 0; sent < 10; sent += 1) expect(await blog.send({ comments: { on: [1] } })).toBe(202);
  const second = await vi.waitFor(async () => {
    clock.advance(4000);
    const home = (await ask('GET', '/api/v2/home', 200)) as Home;
    expect(home.applications[0]!.accepted).toBe(11);
    return home;
  });
  const { perSecond, overSeconds } = second.applications[0]!.rate;
  expect(perSecond * overSeconds).toBeCloseTo(10);
  // Counts of complete hours come from a cache, and must be included.
  clock.advance(2 * 3_600_000);
  const third = await readHome();
  expect(third.applications[0]).toMatchObject({ accepted: 11, rate: { perSecond: 0 } });
  expect(third.applications[0]!.hourly.accepted.slice(-3)).toEqual([11, 0, 0]);
});

test('findings of all applications are ordered by severity, and a leaked key comes first', async () => {
  expect(await blog.send({ comments: { on: [1] } }, blog.backend.key)).toBe(404);
  const { items, applications } = await readHome();
  expect(items.map(({ kind, application }) => [kind, application?.name])).toEqual([
    ['key_leaked', 'blog'],
    ['undeclared', 'shop'],
  ]);
  expect(applications[0]).toMatchObject({ status: 'urgent', leakedKeys: 1 });
});

test('GET /home lists the events of the next 14 days, but hides expiries of API keys from Viewers', async () => {
  const day = (days: number) => new Date(clock.now() + days * 86_400_000).toISOString();
  const plans = `/api/v2/applications/${blog.id}`;
  const rollout = [-1, 3, 15].map((days) => ({ at: day(days), split: { on: 1, off: 3 } }));
  await ask('POST', `${plans}/features`, 201, { name: 'comments' });
  await ask('PATCH', `${plans}/features/comments`, 200, { rollout });
  const experiment = { feature: 'comments', environment: 'Production', base: 'off', metric: 'used' };
  for (const [name, days] of [
    ['Soon', 9],
    ['Later', 30],
  ] as const)
    await ask('POST', `${plans}/experiments`, 201, { ...experiment, name, endAt: day(days) });
  const spare = await createKey(service.http, await token(service.http, service.credentials), shop.id, 'Mobile');
  await ask('POST', `/api/v2/applications/${shop.id}/keys/${spare.id}/rotate`, 201);
  const apiKeys = `/api/v2/teams/${service.credentials.teamId}/api-keys`;
  const made = { name: 'Deploy', scopes: ['read'], expiresAt: day(5) };
  const viewer = (await ask('POST', apiKeys, 201, made)) as { clientId: string; clientSecret: string };
  const { comingUp } = await readHome();
  expect(comingUp.map(({ sentence, application }) => [sentence, application?.name])).toEqual([
    ['Replaced key Mobile expires', 'shop'],
    ['Rollout of comments moves to on 25%, off 75%', 'blog'],
    ['API key Deploy expires', undefined],
    ['Experiment Soon ends', 'blog'],
  ]);
  expect(comingUp[1]).toMatchObject({
    kind: 'rollout_step',
    at: rollout[1]!.at,
    link: `/apps/${blog.id}/Production/flag?name=comments&tab=traffic`,
  });
  const access = await token(service.http, { ...service.credentials, ...viewer });
  const theirs = (await manage(service.http, access, 'GET', '/api/v2/home', 200)) as Home;
  expect(theirs.comingUp).toEqual(comingUp.filter(({ kind }) => kind !== 'api_key_expiry'));
});

const search = async (q: string, more = '') =>
  ((await ask('GET', `/api/v2/search?q=${encodeURIComponent(q)}${more}`, 200)) as SearchResults).items;

test('search finds seen and declared flags, and sorts them by rank', async () => {
  expect((await search('check')).map(({ type, name }) => [type, name])).toEqual([
    ['feature', 'checkout'],
    ['feature', 'new-checkout'],
    ['feature', 'precheck'],
  ]);
  expect(await search('check', '&limit=1')).toMatchObject([
    {
      name: 'checkout',
      application: { id: shop.id, name: 'shop' },
      link: `/apps/${shop.id}/Production/flag?name=checkout`,
    },
  ]);
  expect(await search('out new')).toHaveLength(1);
  // Search also finds a flag that appears after the index was built.
  await shop.send({ 'checkout-v2': { on: [1] } });
  await vi.waitFor(async () => expect(await search('checkout-v2')).toHaveLength(1));
});

test('a search without results returns the declared flag with the most similar name', async () => {
  const read = (q: string) => ask('GET', `/api/v2/search?q=${q}`, 200);
  expect(await read('pecheck')).toMatchObject({
    items: [],
    similar: { type: 'feature', name: 'precheck', link: `/apps/${shop.id}/Production/flag?name=precheck` },
  });
  expect(await read('nothing-like-it')).toEqual({ items: [], complete: true });
});

test('a search text can have up to 200 characters, also outside the Basic Multilingual Plane', async () => {
  const path = (character: string, length: number) =>
    `/api/v2/search?q=${encodeURIComponent(character.repeat(length))}`;
  expect(await ask('GET', path('😀', 200), 200)).toEqual({ items: [], complete: true });
  expect(await ask('GET', path('😀', 201), 400)).toMatchObject({
    code: 'invalid_query',
    detail: 'q must have at most 200 characters',
  });
});

test('search finds keys by their first characters, and users of the team by name and address', async () => {
  const [key] = await search(blog.backend.key.slice(0, 12));
  expect(key).toMatchObject({ type: 'key', application: { name: 'blog' } });
  expect(key!.link).toBe(`/settings/application?app=${blog.id}&key=${blog.backend.id}`);
  const email = 'grace@example.com';
  await ask('POST', '/api/v2/users', 201, { name: 'Grace Hopper', email, teams: [service.credentials.teamId] });
  expect(await search('hopper')).toMatchObject([{ type: 'user', name: 'Grace Hopper', detail: email }]);
  expect(await search('grace@')).toMatchObject([{ type: 'user', name: 'Grace Hopper' }]);
});

test('an API key bound to an application sees only this application in Home and search', async () => {
  const path = `/api/v2/teams/${service.credentials.teamId}/api-keys`;
  const bound = { name: 'ci', scopes: ['read'], applications: [blog.id] };
  const made = (await ask('POST', path, 201, bound)) as { clientId: string; clientSecret: string };
  const access = await token(service.http, { ...service.credentials, ...made });
  const home = (await manage(service.http, access, 'GET', '/api/v2/home', 200)) as Home;
  expect(home.applications.map(({ name }) => name)).toEqual(['blog']);
  const { items } = (await manage(service.http, access, 'GET', '/api/v2/search?q=o', 200)) as SearchResults;
  expect([...new Set(items.map(({ application }) => application?.name))]).toEqual(['blog']);
});

test('a search with very many results is complete, and lists names that begin with the text first', async () => {
  const store = temporaryUsage();
  const index = new NameIndex(store);
  store.lmdb.transactionSync(() => {
    for (const environment of [1, 2])
      for (let ordinal = 0; ordinal < 30_000; ordinal += 1) {
        const name = ordinal === 29_999 ? `a-${environment}` : `flag-a-${environment}-${ordinal}`;
        putSeries(store, { environment, ordinal, name: [name, 'on'] });
      }
  });
  const applications = [1, 2].map((number) => ({ number, environments: [number] }));
  const { found, complete } = finish(index.find({ words: ['a'], applications, limit: 3 }));
  expect(found.slice(0, 2).map(({ name }) => name)).toEqual(['a-1', 'a-2']);
  expect([found.length, complete]).toEqual([3, true]);
});
