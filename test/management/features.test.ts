import { expect, test } from 'vitest';
import { surplusName } from '../../src/contract/names.ts';
import { limits } from '../../src/contract/tiers.ts';
import { refusal } from '../auth/fixture.ts';
import { openRegistry, type Registry } from './registry.ts';

const day = 86_400_000;
const formatTime = (at: number) => new Date(at).toISOString();
const formatMinute = (at: number) => formatTime(Math.floor(at / 60_000) * 60_000);
const checked = { on: [1] };

/** The default settings of a feature. */
const unsaid = {
  archived: false,
  archivedAt: null,
  permanent: false,
  snoozedUntil: null,
  split: null,
  rollout: null,
  owners: [],
  ownersFrom: null,
  tags: [],
};
/** The empty fields of a feature's details. */
const alone = { code: [], notes: [], environments: [], nearest: null };

/** Returns actions and names from the audit log of features. */
function audit({ store }: Registry): [string, string][] {
  const entries = [...store.audit.getRange().map(({ value }) => value)];
  return entries.filter(({ target }) => target.type === 'feature').map(({ action, target }) => [action, target.name]);
}

test('a feature is declared, changed and removed', async () => {
  const registry = await openRegistry();
  const { ask, clock, application, directory } = registry;
  const made = await ask('POST', '/features', { name: 'checkout', description: 'New checkout' });
  const now = formatTime(clock.now());
  const declared = {
    name: 'checkout',
    description: 'New checkout',
    declared: true,
    ...unsaid,
    stale: false,
    firstSeenAt: null,
    lastSeenAt: null,
    createdAt: now,
    updatedAt: now,
  };
  expect(made).toMatchObject({ status: 201, json: { ...declared, ...alone } });
  expect(made.headers['location']).toBe(`/api/v2/applications/${application.id}/features/checkout`);
  clock.advance(1000);
  const patched = await ask('PATCH', '/features/checkout', { archived: true, description: null });
  const at = formatTime(clock.now());
  const changed = { ...declared, archived: true, archivedAt: at, description: null, updatedAt: at };
  expect(patched).toMatchObject({ status: 200, json: { ...changed, ...alone } });
  expect((await ask('GET', '/features/checkout')).json).toEqual({ ...changed, ...alone });
  expect((await ask('GET', '/features')).json).toEqual({
    items: [{ ...changed, verdict: 'new', verdictBasis: 'age', verdictSince: now }],
    nextCursor: null,
  });
  expect((await ask('PATCH', '/features/checkout', {})).json).toEqual({ ...changed, ...alone });
  expect((await ask('DELETE', '/features/checkout')).status).toBe(204);
  for (const method of ['GET', 'PATCH', 'DELETE']) {
    expect(await ask(method, '/features/checkout', {})).toMatchObject(refusal(404, 'not_found'));
  }
  expect(audit(registry)).toEqual([
    ['feature.declared', 'checkout'],
    ['feature.changed', 'checkout'],
    ['feature.deleted', 'checkout'],
  ]);
  expect(directory.getFeatures(application.id).size).toBe(0);
});

test('an undeclared feature is listed with the times of its first and last check in every environment', async () => {
  const { ask, clock, see } = await openRegistry();
  const first = clock.now();
  see({ f: { checkout: checked } }, 'Staging');
  clock.advance(3 * day);
  see({ f: { checkout: { off: [1] } } });
  const last = clock.now();
  clock.advance(day);
  see({ f: { other: checked } });
  const seen = {
    name: 'checkout',
    description: null,
    declared: false,
    ...unsaid,
    stale: false,
    firstSeenAt: formatMinute(first),
    lastSeenAt: formatMinute(last),
    createdAt: null,
    updatedAt: null,
  };
  const sightAt = (at: number) => ({ firstSeenAt: formatMinute(at), lastSeenAt: formatMinute(at) });
  const environments = [
    { environment: 'Production', ...sightAt(last), variants: [{ variant: 'off', ...sightAt(last) }] },
    { environment: 'Staging', ...sightAt(first), variants: [{ variant: 'on', ...sightAt(first) }] },
  ];
  expect((await ask('GET', '/features/checkout')).json).toEqual({ ...seen, ...alone, environments });
  expect((await ask('GET', '/features')).json.items[0]).toEqual({
    ...seen,
    verdict: 'new',
    verdictBasis: 'age',
    verdictSince: formatMinute(first),
  });
});

test('a metric counts as a use of its feature', async () => {
  const { ask, see, seeFeatureMetric, clock } = await openRegistry();
  see({ m: { amount: 1 } });
  expect((await ask('GET', '/features')).json.items).toEqual([]);
  seeFeatureMetric('checkout', 'amount', 1);
  expect((await ask('GET', '/features')).json.items).toMatchObject([
    { name: 'checkout', declared: false, lastSeenAt: formatMinute(clock.now()) },
  ]);
});

test('a change of an undeclared feature declares the feature, and a deletion makes the feature undeclared again', async () => {
  const registry = await openRegistry();
  const { ask, see, clock } = registry;
  see({ f: { checkout: checked } });
  clock.advance(1000);
  const { status, json } = await ask('PATCH', '/features/checkout', { archived: true });
  expect([status, json.declared, json.archived, json.createdAt]).toEqual([200, true, true, formatTime(clock.now())]);
  expect(json.firstSeenAt).not.toBeNull();
  expect((await ask('DELETE', '/features/checkout')).status).toBe(204);
  expect((await ask('GET', '/features/checkout')).json).toMatchObject({ declared: false, archived: false });
  expect(await ask('DELETE', '/features/checkout')).toMatchObject({ status: 404 });
  expect(audit(registry).map(([action]) => action)).toEqual(['feature.declared', 'feature.deleted']);
});

test('a feature is stale thirty days after its last packet or, without packets, after its declaration', async () => {
  const { ask, see, clock } = await openRegistry();
  see({ f: { seen: checked, back: checked } });
  await ask('POST', '/features', { name: 'never' });
  const stale = async () =>
    (await ask('GET', '/features?stale=true')).json.items.map(({ name }: { name: string }) => name);
  clock.advance(30 * day - 60_000);
  expect(await stale()).toEqual([]);
  see({ f: { back: checked } });
  await ask('PATCH', '/features/seen', { description: 'declared late' });
  clock.advance(60_001);
  expect(await stale()).toEqual(['never', 'seen']);
  see({ f: { seen: checked } });
  expect(await stale()).toEqual(['never']);
});

test.each([
  ['', ['archived', 'seen', 'shown']],
  ['?archived=true', ['archived']],
  ['?archived=false', ['seen', 'shown']],
  ['?declared=true', ['archived', 'shown']],
  ['?declared=false', ['seen']],
  ['?declared=true&archived=false', ['shown']],
  ['?stale=true', []],
])('the list of features with the query %j has the features %j', async (query, expected) => {
  const { ask, see, names } = await openRegistry();
  see({ f: { seen: checked, shown: checked } });
  for (const name of ['archived', 'shown']) await ask('POST', '/features', { name });
  await ask('PATCH', '/features/archived', { archived: true });
  expect(await names(`/features${query}`)).toEqual(expected);
});

test.each(['archived=yes', 'stale=', 'limit=0', 'cursor=x', `cursor=${Buffer.from('before:x').toString('base64url')}`])(
  'the list of features refuses the query ?%s',
  async (query) => {
    const { ask } = await openRegistry();
    expect(await ask('GET', `/features?${query}`)).toMatchObject(refusal(400, 'invalid_query'));
  },
);

test('pages list each feature once while features are created and deleted', async () => {
  const { ask, see, names } = await openRegistry();
  see({ f: { b: checked, d: checked } });
  for (const name of ['a', 'c', 'e']) await ask('POST', '/features', { name });
  let page = 0;
  const seen = await names('/features', async () => {
    page += 1;
    if (page !== 1) return;
    see({ f: { aa: checked } });
    await ask('POST', '/features', { name: 'dd' });
    await ask('DELETE', '/features/c');
  });
  expect(seen).toEqual(['a', 'b', 'd', 'dd', 'e']);
});

test.each(['with space', 'a/b', 'é🙂', '__proto__', '100%', '...', '\u2028'])(
  'a feature named %j is declared, found by its path and as a cursor, and removed',
  async (name) => {
    const { ask, names, application } = await openRegistry();
    const path = `/features/${encodeURIComponent(name)}`;
    const made = await ask('POST', '/features', { name });
    expect(made.headers['location']).toBe(`/api/v2/applications/${application.id}${path}`);
    for (const other of ['!', '!!', '~', '~~', '\uffff']) await ask('POST', '/features', { name: other });
    expect(await names('/features')).toEqual(['!', '!!', '~', '~~', '\uffff', name].toSorted());
    expect((await ask('GET', path)).json.name).toBe(name);
    expect((await ask('DELETE', path)).status).toBe(204);
  },
);

test.each<[unknown, string]>([
  [{ name: 'a', archived: true }, 'invalid_body'],
  [{ name: '..' }, 'invalid_name'],
  [{ name: 'a\u0000' }, 'invalid_name'],
  [{ name: surplusName }, 'invalid_name'],
])('the declaration %j is refused', async (body, code) => {
  const { ask } = await openRegistry();
  expect(await ask('POST', '/features', body)).toMatchObject(refusal(400, code));
});

test('a name is declared once per application', async () => {
  const { ask, call, directory } = await openRegistry();
  await ask('POST', '/features', { name: 'a' });
  expect(await ask('POST', '/features', { name: 'a' })).toMatchObject(refusal(409, 'conflict'));
  const { json } = await call('POST', '/applications', { name: 'Other' });
  expect(directory.getFeatures(json.id).size).toBe(0);
});

test('the plan limits the number of declared features for every way to declare a feature', async () => {
  const { ask, see, directory, team } = await openRegistry();
  await directory.change((tx) => tx.put('teams', team.id, { ...team, plan: 'free' }));
  for (let at = 0; at < limits.features.free; at += 1) await ask('POST', '/features', { name: `f${at}` });
  see({ f: { seen: checked } });
  for (const refused of [
    await ask('POST', '/features', { name: 'more' }),
    await ask('PATCH', '/features/seen', { archived: true }),
  ]) {
    expect(refused).toMatchObject(refusal(403, 'plan_limit'));
  }
  expect((await ask('PATCH', '/features/f0', { archived: true })).status).toBe(200);
});

test('names over the feature limit of an environment are not listed as features', async () => {
  const { ask, see, names } = await openRegistry();
  see({ f: { a: checked, b: checked, c: checked, d: checked } });
  expect(await names('/features')).toEqual(['a', 'b', 'c']);
  expect((await ask('GET', `/features/${surplusName}`)).status).toBe(404);
});

test('a change applies only to the version that the caller has read, and packets do not change the version', async () => {
  const { ask, see, clock } = await openRegistry();
  see({ f: { checkout: checked } });
  const seen = await ask('GET', '/features/checkout');
  clock.advance(120_000);
  see({ f: { checkout: checked } });
  const match = (tag = '') => ({ 'if-match': tag });
  const first = await ask('PATCH', '/features/checkout', { archived: true }, match(seen.headers['etag']));
  expect(first.status).toBe(200);
  expect(first.json.lastSeenAt).not.toBe(seen.json.lastSeenAt);
  expect(await ask('PATCH', '/features/checkout', { archived: false }, match(seen.headers['etag']))).toMatchObject(
    refusal(412, 'precondition_failed'),
  );
  expect((await ask('PATCH', '/features/checkout', { archived: false }, match(first.headers['etag']))).status).toBe(
    200,
  );
  const made = await ask('POST', '/features', { name: 'other' });
  expect((await ask('PATCH', '/features/other', {}, match(made.headers['etag']))).status).toBe(200);
});
