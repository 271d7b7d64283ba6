import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { SignJWT } from 'jose';
import { Secret, TOTP } from 'otpauth';
import { expect } from 'vitest';
import { createApiKey } from '../../src/accounts/api-keys.ts';
import { openDirectory } from '../../src/accounts/directory.ts';
import { readPublicKeys } from '../../src/accounts/public-keys.ts';
import { acceptCode, addTotp, loadTotps } from '../../src/accounts/second-factors.ts';
import { storedKeys } from '../../src/accounts/signing-keys.ts';
import { prepareRepair } from '../../src/auth/after-loss.ts';
import { countAttempt, forgetFailures, forgiveAttempt, sweepThrottles } from '../../src/auth/factors/login-throttle.ts';
import { assertionType } from '../../src/auth/oauth/client-assertion.ts';
import { DeviceCodes } from '../../src/auth/oauth/device-codes.ts';
import { openKeyRing } from '../../src/auth/oauth/key-ring.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import type { Jwk } from '../../src/storage/lmdb/auth-records.ts';
import { fixtureOn, testClock } from '../accounts/fixture.ts';
import { newDatabase, openNode, sharedServer, testLog } from '../accounts/store/postgres-fixture.ts';
import { cuttingRelay } from '../replication/postgres/relay.ts';
import { needing } from '../support/needing.ts';
import { openSessionFixture, type SessionFixture } from './session-fixture.ts';

const { describe, test } = needing('postgresql');

/** Two nodes that serve the same users. The first node reaches PostgreSQL through a proxy. */
async function twoNodes() {
  const postgres = await sharedServer();
  const url = await newDatabase(postgres);
  const relay = await cuttingRelay(postgres, url, 'fm_control_write');
  const one = await openSessionFixture(0, await fixtureOn({ data: '', ...openNode(relay.url) }));
  const node = openNode(url);
  await node.accountStore.current();
  return { url, relay, one, other: one.beside(node) };
}

/** Returns the status of a node's response, after the node has read all changes. */
async function callNow({ accountStore, call }: SessionFixture, token: string): Promise<number> {
  await accountStore.current();
  return call(token);
}

describe('two nodes', () => {
  test('both nodes reject a token immediately after one node has invalidated it', async () => {
    const { one, other } = await twoNodes();
    for (let round = 0; round < 3; round += 1) {
      const { access_token: token } = await one.tokens();
      expect(await callNow(other, token)).toBe(200);
      const sent = { method: 'POST', headers: { authorization: `Bearer ${token}` } };
      const path = '/api/account/invalidate-token';
      expect(await one.post(path, {}, sent.headers)).toMatchObject({ status: 200 });
      expect(await callNow(other, token)).toBe(401);
    }
  });

  test('two nodes together accept a refresh token only once, and its reuse ends the session on both nodes', async () => {
    const { one, other } = await twoNodes();
    for (let round = 0; round < 3; round += 1) {
      const { refresh_token: token } = await one.tokens();
      const nodes = [one, other, other, one];
      const responses = await Promise.all(nodes.map(({ refresh }) => refresh(token)));
      expect(responses.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400]);
      const { access_token: next } = responses.find(({ status }) => status === 200)!.json;
      for (const node of [one, other]) expect(await callNow(node, next)).toBe(401);
    }
  });

  test('a token refresh succeeds even if the response to its commit is lost', async () => {
    const { relay, one, other } = await twoNodes();
    let { refresh_token: token } = await one.tokens();
    for (let round = 1; round <= 3; round += 1) {
      relay.loseNextCommit();
      const { status, json } = await one.refresh(token);
      expect([status, relay.lost]).toEqual([200, round]);
      expect(await callNow(other, json.access_token)).toBe(200);
      token = json.refresh_token;
    }
  });

  test('two nodes together accept each app code and each recovery code only once', async () => {
    const { one, other } = await twoNodes();
    const totps = await loadTotps(randomBytes);
    const secret = totps.newSecret();
    const code = () => TOTP.generate({ secret: Secret.fromBase32(secret), timestamp: one.clock.now() });
    const recoveryCodes = await one.directory.change((tx) =>
      addTotp(one.directory, totps, tx, one.user.id, { secret, code: code() }),
    );
    await other.accountStore.current();
    one.clock.advance(30_000);
    const accepted = (typed: string) =>
      Promise.all(
        [one, other, other, one].map(({ directory }) =>
          directory.change((tx) => acceptCode(directory, totps, tx, one.user.id, typed)),
        ),
      );
    for (const [typed, factor] of [
      [code(), 'totp'],
      [recoveryCodes![0]!, 'recovery-code'],
    ] as const)
      expect((await accepted(typed)).filter((each) => each !== undefined)).toEqual([factor]);
  });

  test('two nodes together accept each assertion of a client only once', async () => {
    const { one, other } = await twoNodes();
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    const publicKeys = await readPublicKeys([publicKey.export({ format: 'jwk' }) as Jwk]);
    const wanted = { teamId: one.team.id, name: 'CI', role: 'User', publicKeys } as const;
    const { clientId: id } = (await createApiKey(one.directory, wanted)).apiKey;
    await other.accountStore.current();
    const exp = Math.floor(one.clock.now() / 1000) + 60;
    const assertion = await new SignJWT({ iss: id, sub: id, aud: one.settings.issuer, jti: 'once', exp })
      .setProtectedHeader({ alg: 'EdDSA' })
      .sign(privateKey);
    const form = {
      grant_type: 'client_credentials',
      scope: 'openid flagmeter',
      client_assertion_type: assertionType,
      client_assertion: assertion,
    };
    const nodes = [one, other, other, one];
    const responses = await Promise.all(nodes.map(({ post }) => post('/connect/token', form)));
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401]);
  });

  test('a device code issued by one node and allowed at the other can be exchanged once', async () => {
    const { one, other } = await twoNodes();
    const [at, there] = [one, other].map(
      ({ accountStore, clock }) => new DeviceCodes({ accountStore, clock, randomBytes }),
    ) as [DeviceCodes, DeviceCodes];
    const { userCode, deviceCode } = await at.begin({ clientId: 'cli', scope: 'openid', address: '192.0.2.1' });
    await other.accountStore.current();
    const waiting = there.find(userCode)!;
    const allowance = { userId: one.user.id, signIn: 'key', authTime: 1, scope: 'openid' };
    expect(await other.accountStore.change((tx) => there.decide(tx, waiting, allowance))).toBe(true);
    await one.accountStore.current();
    expect(at.poll(deviceCode, 'cli')).toEqual({ outcome: 'allowed' });
    const taking = [at.take.bind(at), there.take.bind(there)].map((take, index) =>
      [one, other][index]!.accountStore.change((tx) => take(tx, deviceCode, 'cli')),
    );
    const taken = await Promise.all(taking);
    expect(taken.filter((each) => each !== undefined)).toEqual([allowance]);
  });

  test('two nodes count failed sign-ins together', async () => {
    const { one, other } = await twoNodes();
    const clock = testClock();
    const browser = { id: 'a', permanentId: 'b' };
    const attempt = { email: 'ada@example.com', address: '192.0.2.1', browser };
    const nodes = [one, other].map(({ accountStore }) => ({ accountStore, clock }));
    const count = (round: number) => countAttempt(nodes[round % 2]!, attempt);
    const counted = await Promise.all([0, 1, 2, 3, 4].map(count));
    expect(counted.map(({ wait }) => wait)).toEqual([0, 0, 0, 0, 0]);
    expect((await count(0)).wait).toBe(5);
    expect((await count(1)).wait).toBe(5);
    await forgiveAttempt(nodes[1]!, attempt, counted[4]!);
    const { throttles } = one.accountStore;
    expect((await count(0)).keys.map((key) => key.split('.')[0])).toEqual(['browser']);
    expect(await sweepThrottles(throttles, '', clock.now() + 86_400_000)).toBeUndefined();
    expect((await throttles.list('', 9)).map(({ key }) => key.split('.')[0])).toEqual(['browser']);
    await forgetFailures(throttles);
    expect(await throttles.list('', 9)).toMatchObject([{ failures: { failures: 0 } }]);
  });

  test('two nodes have the same signing keys after one node has replaced the keys', async () => {
    const url = await newDatabase(await sharedServer());
    const nodes = [openNode(url), openNode(url)];
    const repair = await prepareRepair(systemClock, 'ES256');
    await nodes[0]!.accountStore.change(repair);
    await nodes[1]!.accountStore.current();
    const rings = await Promise.all(
      nodes.map(({ accountStore, store }) =>
        openKeyRing(
          {
            accounts: store,
            accountStore,
            clock: systemClock,
            log: testLog(),
            directory: openDirectory(accountStore, { clock: systemClock, randomBytes }),
          },
          'ES256',
        ),
      ),
    );
    expect(rings[0]!.current.kid).toBe(rings[1]!.current.kid);
    await nodes[0]!.accountStore.change(await prepareRepair(systemClock, 'EdDSA'));
    await nodes[1]!.accountStore.current();
    const kids = rings.map((ring) => [ring.current.kid, ring.published.map(({ kid }) => kid)]);
    expect(kids[0]).toEqual(kids[1]);
    expect(kids[0]![1]).toEqual(storedKeys(nodes[0]!.store).map(({ kid }) => kid));
  });
});

test('the repair after PostgreSQL has lost changes ends all sessions, and reuses no record number', async () => {
  const { one, other } = await twoNodes();
  const { refresh_token: token } = await one.tokens();
  const before = one.accountStore.records('numbers').get('team')!;
  await one.accountStore.change(await prepareRepair(systemClock, 'ES256'));
  await other.accountStore.current();
  expect(await other.refresh(token)).toMatchObject({ status: 400 });
  expect(other.accountStore.records('numbers').get('team')).toBe(before + 10_000);
  expect(other.audited('engine.changes-lost')).toHaveLength(1);
});
