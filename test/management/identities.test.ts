import fc from 'fast-check';
import { expect, test } from 'vitest';
import { routesFrom } from '../../src/http/endpoint.ts';
import { createRouter } from '../../src/http/router.ts';
import { identities } from '../../src/management/identities.ts';
import type { Services } from '../../src/management/services.ts';
import { send } from '../auth/fixture.ts';
import { postJson, token, usage } from '../support/binary.ts';
import { opened } from '../support/opened.ts';
import { attachPeople, type Exposure, openPeople, type People } from '../support/people.ts';
import { temporaryUsage } from '../support/temporary-usage.ts';
import { callerDeps, openManageFixture } from './fixture.ts';

const day = 86_400_000;

const running = opened(openPeople);

/** Creates a separate application in the running service. */
const attach = () => attachPeople(running.service, running.clock);

async function sendPacket(people: People, packet: object): Promise<void> {
  expect(
    await postJson(
      `http://${people.service.http}/api/frontend/telemetry`,
      { k: people.keys.Frontend, e: 'Production', ...packet },
      { origin: 'https://shop.example.com' },
    ),
  ).toBe(202);
}

test('the exposures of an identity are the sums of the exposures in its packets', async () => {
  const people = await attach();
  await people.call('PATCH', '', 200, { acceptClientIdentities: true });
  const name = fc.constantFrom('a', 'b', '__proto__', 'é🙂');
  const counts = fc.array(fc.nat(2 ** 31 - 1), { minLength: 1, maxLength: 3 });
  const packet = fc.record({
    who: fc.constantFrom('ann', 'bob', 'nobody'),
    f: fc.dictionary(name, fc.dictionary(name, counts)),
    seconds: fc.nat(5000),
  });
  const packets = fc.sample(packet, { numRuns: 60, seed: 7 });
  const ids: Record<string, string> = { ann: await people.mint('ann'), bob: await people.mint('bob') };
  const model = new Map<string, Map<string, Exposure>>();
  for (const { who, f, seconds } of packets) {
    people.clock.advance(seconds * 1000);
    const at = new Date(people.clock.now()).toISOString();
    await sendPacket(people, who === 'nobody' ? { f } : who === 'bob' ? { f, u: 'bob' } : { f, i: ids[who] });
    for (const [feature, variants] of Object.entries(f)) {
      for (const [variant, [checks = 0, used = 0, viewed = 0]] of Object.entries(variants)) {
        const rows = model.get(who) ?? new Map<string, Exposure>();
        model.set(who, rows);
        const key = `${feature}/${variant}`;
        const before = rows.get(key) ?? { firstSeenAt: at, checks: 0, used: 0, viewed: 0 };
        rows.set(key, {
          feature,
          variant,
          firstSeenAt: before.firstSeenAt,
          lastSeenAt: at,
          checks: before.checks + checks,
          used: before.used + used,
          viewed: before.viewed + viewed,
        });
      }
    }
  }
  const order = ({ feature, variant }: Exposure) => `${feature}/${variant}`;
  for (const who of ['ann', 'bob']) {
    const expected = [...(model.get(who)?.values() ?? [])];
    const found = await people.exposures(who);
    expect(expected.length).toBeGreaterThan(3);
    expect(new Map(found.map((each) => [order(each), each]))).toEqual(
      new Map(expected.map((each) => [order(each), each])),
    );
    expect(found.map(({ feature }) => feature)).toEqual(found.map(({ feature }) => feature).toSorted());
  }
  expect(await people.exposures('nobody')).toEqual([]);
});

test('a client-asserted identity counts only if the application accepts it, and a valid instance id overrides it', async () => {
  const people = await attach();
  const i = await people.mint('ann');
  await people.check('first', { u: 'bob' });
  expect(await people.exposures('bob')).toEqual([]);

  await people.call('PATCH', '', 200, { acceptClientIdentities: true });
  await people.check('second', { u: 'bob' });
  await people.check('third', { i, u: 'bob' });
  await people.check('fourth', { i: 'unknown', u: 'bob' });
  await people.check('fifth', { u: '' });
  await people.check('fifth', { u: 'a\u0000' });

  await people.call('PATCH', '', 200, { acceptClientIdentities: false });
  await people.check('sixth', { u: 'bob' });
  const features = async (who: string) => (await people.exposures(who)).map(({ feature }) => feature);
  expect(await features('bob')).toEqual(['fourth', 'second']);
  expect(await features('ann')).toEqual(['third']);
});

test('a person counts as one unique user, whether sent as an instance id or as an identity', async () => {
  const people = await attach();
  await people.call('PATCH', '', 200, { acceptClientIdentities: true });
  const i = await people.mint('ann');
  for (const who of [{ i }, { i }, { u: 'ann' }, { u: 'bob' }, {}]) await people.check('checkout', who);
  await people.check('cart', { i: await people.mint('ann') });
  await people.check('cart', { i: 'unknown' });
  const access = await token(people.service.http, people.service.credentials);
  const report = (await usage(people.service.http, access, people.application, {
    environment: 'Production',
    from: new Date(people.clock.now() - day),
    to: new Date(people.clock.now() + day),
    step: 'day',
  })) as unknown as { uniqueUsers: number; features: { feature: string; checks: number; uniqueUsers: number }[] };
  expect(report.uniqueUsers).toBe(2);
  expect(report.features.map(({ feature, checks, uniqueUsers }) => [feature, checks, uniqueUsers])).toEqual([
    ['checkout', 5, 2],
    ['cart', 2, 1],
  ]);
});

test('exposures are listed until their retention ends', async () => {
  const people = await openPeople({ args: ['--exposure-days', '3'] });
  const i = await people.mint('ann');
  await people.check('old', { i });
  people.clock.advance(2 * day);
  await people.check('new', { i });
  const features = async () => (await people.exposures('ann')).map(({ feature }) => feature);
  people.clock.advance(day);
  expect(await features()).toEqual(['new', 'old']);
  people.clock.advance(1000);
  expect(await features()).toEqual(['new']);
  await people.service.stop();
});

test('identities over the limit of an environment are counted without exposures', async () => {
  const people = await openPeople({ args: ['--max-identities', '2'] });
  for (const name of ['ann', 'bob', 'eve']) await people.check('checkout', { i: await people.mint(name) });
  const sizes = await Promise.all(['ann', 'bob', 'eve'].map(async (name) => (await people.exposures(name)).length));
  expect(sizes).toEqual([1, 1, 0]);
  await people.service.stop();
});

test('forgetting a person affects all environments, takes effect with the next packet, and survives a restart', async () => {
  let people = await openPeople();
  const older = await people.mint('ann/1');
  const newer = await people.mint('ann/1');
  const other = await people.mint('bob');
  for (const environment of ['Production', 'Staging']) {
    for (const i of [older, newer, other]) await people.check('checkout', { i }, environment);
  }
  expect(await people.exposures('ann/1')).toHaveLength(1);

  expect(await people.call('DELETE', '/identities/ann%2F1', 204)).toBeUndefined();
  for (const i of [older, newer]) await people.check('later', { i });
  for (const environment of ['Production', 'Staging']) {
    expect(await people.exposures('ann/1', environment)).toEqual([]);
    expect(await people.exposures('bob', environment)).toHaveLength(1);
  }
  people = await people.restart();
  await people.check('later', { i: newer });
  expect(await people.exposures('ann/1')).toEqual([]);

  await people.call('DELETE', '/identities/ann%2F1', 204);
  await people.check('back', { i: await people.mint('ann/1') });
  expect(await people.exposures('ann/1')).toMatchObject([{ feature: 'back', checks: 1 }]);
  await people.service.stop();
});

test('packets that arrive while a person is being forgotten do not restore the person', async () => {
  const people = await attach();
  const i = await people.mint('ann');
  await people.check('before', { i });
  let forgotten = false;
  const sending = (async () => {
    while (!forgotten) await Promise.all(Array.from({ length: 8 }, () => people.check('during', { i })));
  })();
  await people.call('DELETE', '/identities/ann', 204);
  forgotten = true;
  await sending;
  expect(await people.exposures('ann')).toEqual([]);
});

test('members can read exposures, only Admins can forget identities, and other teams are refused', async () => {
  const fixture = await openManageFixture();
  const { application, tokens } = fixture;
  const store = temporaryUsage();
  const forgotten: string[] = [];
  const instances: Services['instances'] = {
    computeDigest: () => Buffer.alloc(16),
    forget: async ({ id }, identity) => void forgotten.push(`${id}/${identity}`),
  };
  const services = { ...callerDeps(fixture), store, exposureDays: 30, instances };
  const dispatch = createRouter(routesFrom([identities], services as unknown as Services));
  const path = `/api/v2/applications/${application.id}/identities/ann%2F1`;
  const shown = `${path}/exposures?environment=Production`;
  const readStatus = async (method: string, target: string, access?: string) => {
    const headers = access === undefined ? {} : { authorization: `Bearer ${access}` };
    return (await send(dispatch, target, { method, headers })).status;
  };
  for (const access of [tokens.admin, tokens.user]) {
    const { status, json } = await send(dispatch, shown, { headers: { authorization: `Bearer ${access}` } });
    expect([status, json]).toEqual([200, { identity: 'ann/1', environment: 'Production', exposures: [] }]);
  }
  expect(await readStatus('GET', `${path}/exposures?environment=Nowhere`, tokens.user)).toBe(404);
  expect(await readStatus('GET', `${path}/exposures`, tokens.user)).toBe(400);
  expect(await readStatus('GET', shown, tokens.outsider)).toBe(403);
  expect(await readStatus('GET', shown)).toBe(401);
  expect(await readStatus('DELETE', path)).toBe(401);
  expect(await readStatus('DELETE', path, tokens.outsider)).toBe(403);
  expect(await readStatus('DELETE', path, tokens.user)).toBe(403);
  expect(forgotten).toEqual([]);
  expect(await readStatus('DELETE', path, tokens.admin)).toBe(204);
  expect(forgotten).toEqual([`${application.id}/ann/1`]);
});

test.each(['.', '..', 'a/../b', '%2e%2e', 'ann'])(
  'the identity %j can be forgotten with a query parameter',
  async (identity) => {
    const people = await attach();
    await people.call('PATCH', '', 200, { acceptClientIdentities: true });
    for (const u of [identity, 'other']) expect(await people.check('checkout', { u })).toBe(202);
    await people.call('DELETE', `/identities?identity=${encodeURIComponent(identity)}`, 204);
    expect(await people.check('again', { u: 'other' })).toBe(202);
    if (!identity.includes('..') && identity !== '.') expect(await people.exposures(identity)).toEqual([]);
    expect(await people.exposures('other')).toHaveLength(2);
  },
);
