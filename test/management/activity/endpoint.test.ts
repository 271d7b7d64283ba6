import { beforeAll, expect, test, vi } from 'vitest';
import type { ActivityItem } from '../../../src/contract/shapes/activity.ts';
import { type Clock, systemClock } from '../../../src/runtime/clock.ts';
import { createApplication, createKey, manage, postJson, token } from '../../support/binary.ts';
import { opened } from '../../support/opened.ts';
import { startLocal } from '../../support/service.ts';

const minuteMs = 60_000;
const dayMs = 86_400_000;

let ahead = 0;
const clock: Clock = { ...systemClock, now: () => systemClock.now() + ahead };

const service = opened(() => startLocal({ clock, args: ['--api-rate', '0'] }));
let access: string;
beforeAll(async () => {
  access = await token(service.http, service.credentials);
});

/** Advances the clock, and signs in again. */
async function pass(ms: number): Promise<void> {
  ahead += ms;
  access = await token(service.http, service.credentials);
}

interface Feed {
  readonly items: readonly ActivityItem[];
  readonly nextCursor: string | null;
}

async function openShop() {
  const id = await createApplication(service.http, access, { name: 'shop' });
  const { key } = await createKey(service.http, access, id, 'Frontend');
  const path = `/api/v2/applications/${id}`;
  const get = (query: Record<string, string>, bearer = access) =>
    fetch(`http://${service.http}${path}/activity?${new URLSearchParams(query)}`, {
      headers: { authorization: `Bearer ${bearer}` },
    });
  return {
    id,
    path,
    key,
    get,
    async read(query: Record<string, string> = {}, bearer?: string): Promise<Feed> {
      await pass(minuteMs); // The caches have expired after this time.
      const response = await get({ limit: '200', ...query }, bearer);
      expect(response.status).toBe(200);
      return (await response.json()) as Feed;
    },
    async send(f: object, k = key, userAgent = 'shop-app/3.1', origin = 'https://shop.example') {
      return postJson(
        `http://${service.http}/api/frontend/telemetry`,
        { k, e: 'Production', f },
        { origin, 'user-agent': userAgent },
      );
    },
    change: (method: string, rest: string, body: unknown) =>
      manage(service.http, access, method, `${path}${rest}`, method === 'PATCH' ? 200 : 201, body),
  };
}

const kinds = ({ items }: Feed) => items.map(({ kind }) => kind);
const listTexts = ({ items }: Feed, kind: string) => items.filter((item) => item.kind === kind).map(({ text }) => text);

test('the activity feed lists changes by people with the values before and after, latest first', async () => {
  const { change, read } = await openShop();
  await change('POST', '/features', { name: 'checkout', description: 'New checkout' });
  await change('PATCH', '/features/checkout', { permanent: true, split: { on: 1, off: 3 } });
  await change('PATCH', '/features/checkout', { archived: true });
  await change('PUT', '/metrics/latency', { kind: 'gauge', unit: 'ms' });
  await change('PATCH', '', { allowedOrigins: ['https://shop.example'], rate: 20 });
  const { items } = await read();
  expect(items.map(({ feature, text }) => [feature, text])).toEqual([
    [null, 'Application shop changed: allowed origins none → https://shop.example, rate none → 20'],
    [null, 'Metric latency declared: kind gauge, unit ms'],
    ['checkout', 'Archived'],
    ['checkout', 'Changed: keep for ever no → yes, split none → on 1, off 3'],
    ['checkout', 'Declared: description New checkout'],
    [null, 'Key Frontend created: type Frontend'],
    [null, 'Application shop created'],
  ]);
  expect(items[2]).toMatchObject({
    kind: 'flag_changed',
    by: { type: 'api-key' },
    changes: [{ field: 'archived', from: 'no', to: 'yes' }],
  });
});

test('the activity feed lists new flags, variants and senders, and flags that are no longer seen', async () => {
  const { send, read } = await openShop();
  expect(await send({ checkout: { on: [1, 0, 0] }, old: { on: [1, 0, 0] } })).toBe(202);
  await pass(2 * 3_600_000);
  await send({ checkout: { blue: [1, 0, 0] } }, undefined, 'shop-app/4.0');
  await pass(8 * dayMs);
  await send({ checkout: { blue: [1, 0, 0] } }, undefined, 'shop-app/4.0');
  const feed = await read({ environment: 'Production', from: '2020-01-01T00:00:00Z' });
  const data = feed.items.filter(({ by }) => by === null);
  expect(data.map(({ kind, feature, subject }) => [kind, feature, subject])).toEqual(
    expect.arrayContaining([
      ['new_variant', 'checkout', 'blue'],
      ['sender_released', null, 'shop-app'],
      ['sender_first_seen', null, 'shop-app'],
      ['flag_silent', 'old', null],
      ['first_seen', 'checkout', null],
      ['first_seen', 'old', null],
    ]),
  );
  expect(data).toHaveLength(6);
  expect(listTexts(feed, 'sender_released')).toEqual(['shop-app 4 first seen']);
  await pass(2 * dayMs);
  expect(kinds(await read({ environment: 'Production' }))).toContain('environment_silent');
  expect(kinds(await read({ environment: 'Staging' }))).not.toContain('environment_silent');
});

test('the activity feed lists a period of refusals with its key, senders and end', async () => {
  const { change, send, read } = await openShop();
  await change('PATCH', '', { allowedOrigins: ['https://shop.example'] });
  for (const version of ['119', '120']) {
    const agent = `Mozilla/5.0 Chrome/${version}.0.0.0 Safari/537.36`;
    expect(await send({ a: { on: [1] } }, undefined, agent, 'https://evil.example')).toBe(403);
  }
  const ongoing = await vi.waitFor(async () => {
    const feed = await read({ kind: 'refused' });
    expect(listTexts(feed, 'refused')).toEqual([expect.stringContaining('2 messages')]);
    return feed;
  });
  expect(ongoing.items[0]!.text).toMatch(
    /^Refused: origin_not_allowed \(2 messages, key Frontend, from Chrome 1(19|20), Chrome 1(19|20), still\)$/,
  );
  expect(ongoing.items[0]).toMatchObject({ environment: 'Production', subject: 'Frontend', until: null });
  await pass(dayMs / 2);
  const over = await read({ kind: 'refused' });
  expect(over.items[0]!.until).not.toBeNull();
  expect(over.items[0]!.id).toBe(ongoing.items[0]!.id);
});

test('the activity feed lists a leaked key once, and each note at the time to which the note refers', async () => {
  const { id, change, send, read } = await openShop();
  const { key } = await createKey(service.http, access, id, 'Backend');
  await send({ checkout: { on: [1] } });
  expect(await send({ checkout: { on: [1] } }, key)).toBe(404);
  await change('POST', '/features/checkout/notes', { text: 'Half of the users', at: '2026-01-05T10:00:00Z' });
  const feed = await read({ from: '2026-01-01T00:00:00Z' });
  expect(listTexts(feed, 'key_leaked')).toEqual(['Key Backend leaked: a browser sent it']);
  expect(feed.items.at(-1)).toMatchObject({
    at: '2026-01-05T10:00:00.000Z',
    kind: 'note',
    text: 'Half of the users',
    feature: 'checkout',
  });
});

test('the activity feed lists each step of a rollout plan when the step is due', async () => {
  const { change, read } = await openShop();
  await change('POST', '/features', { name: 'checkout' });
  const at = new Date(clock.now() + 3_600_000).toISOString();
  await change('PATCH', '/features/checkout', { rollout: [{ at, split: { on: 10, off: 90 } }] });
  expect(kinds(await read({ kind: 'rollout_step' }))).toEqual([]);
  await pass(2 * 3_600_000);
  expect((await read({ kind: 'rollout_step' })).items).toMatchObject([
    { at, feature: 'checkout', text: 'Planned split from here on: on 10, off 90' },
  ]);
});

test('the activity feed can be filtered by environment, feature, kind, actor, time and text', async () => {
  const { change, send, read } = await openShop();
  await send({ checkout: { on: [1] }, banner: { on: [1] } });
  await change('PATCH', '/features/checkout', { archived: true });
  expect(kinds(await read({ feature: 'banner' }))).toEqual(['first_seen']);
  expect(kinds(await read({ environment: 'Staging', feature: 'checkout' }))).toEqual(['flag_changed']);
  expect(kinds(await read({ kind: 'first_seen' }))).toEqual(['first_seen', 'first_seen']);
  expect(kinds(await read({ search: 'BANN' }))).toEqual(['first_seen']);
  expect(kinds(await read({ to: '2026-01-01T00:00:00Z' }))).toEqual([]);
  const mine = await read({ actor: service.credentials.clientId });
  expect(new Set(kinds(mine))).toEqual(new Set(['flag_changed', 'key_changed', 'application_changed']));
  expect(kinds(await read({ actor: 'nobody' }))).toEqual([]);
});

test('the activity feed refuses an unknown kind or environment, an empty range and a foreign cursor', async () => {
  const { get } = await openShop();
  const readCode = async (query: Record<string, string>) =>
    ((await (await get(query)).json()) as { code: string }).code;
  expect(await readCode({ kind: 'party' })).toBe('invalid_query');
  expect(await readCode({ environment: 'production' })).toBe('unknown_environment');
  expect(await readCode({ from: '2026-01-02T00:00:00Z', to: '2026-01-01T00:00:00Z' })).toBe('invalid_query');
  expect(await readCode({ cursor: 'x' })).toBe('invalid_query');
});

test('pages of the activity feed neither lose nor repeat items while new items arrive', async () => {
  const { send, read } = await openShop();
  await send(Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`flag-${at}`, { on: [1] }])));
  const before = await read();
  const paged: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: Feed = await read({ limit: '7', ...(cursor && { cursor }) });
    paged.push(...page.items.map(({ id }) => id));
    cursor = page.nextCursor;
    await send({ [`later-${paged.length}`]: { on: [1] } });
  }
  expect(paged).toEqual(expect.arrayContaining(before.items.map(({ id }) => id)));
  expect(new Set(paged).size).toBe(paged.length);
});

test('the activity feed shows names of API keys and former members only to Admins', async () => {
  const { change, read } = await openShop();
  await change('POST', '/features', { name: 'checkout' });
  const apiKeys = `/api/v2/teams/${service.credentials.teamId}/api-keys`;
  const body = { name: 'reader', role: 'Viewer' };
  const viewer = (await manage(service.http, access, 'POST', apiKeys, 201, body)) as object;
  const bearer = await token(service.http, { ...service.credentials, ...viewer });
  const names = ({ items }: Feed) => new Set(items.map(({ by }) => by?.name));
  const shown = await read();
  const hidden = await read({}, bearer);
  expect(names(shown)).not.toContain(null);
  expect(names(hidden)).toEqual(new Set([null]));
  expect(hidden.items.map(({ id }) => id)).toEqual(shown.items.map(({ id }) => id));
  expect(kinds(await read({ actor: service.credentials.clientId }, bearer))).toEqual([]);
});

test('the activity feed can be exported as CSV', async () => {
  const { change, get } = await openShop();
  await change('POST', '/features', { name: 'checkout' });
  const response = await get({ format: 'csv' });
  const [head, first] = (await response.text()).split('\r\n');
  expect(head).toBe('id,at,kind,environment,feature,subject,text,by,until');
  expect(first).toMatch(/,flag_changed,,checkout,checkout,Declared,[^,]+,/);
});
