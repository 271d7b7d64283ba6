import { expect, test } from 'vitest';
import { findOpenPart } from '../../../src/ingest/ledger/hour-rows.ts';
import { manage, token } from '../../support/binary.ts';
import { type LocalService, startLocal } from '../../support/service.ts';
import { message, openUnleash, post, sdk } from './shop.ts';

interface Tokens {
  readonly tokens: readonly { token: string; sender: string | null; count: number }[];
}

async function refused(service: LocalService) {
  const access = await token(service.http, service.credentials);
  const { tokens } = (await manage(service.http, access, 'GET', '/api/v2/unattributed', 200)) as Tokens;
  return tokens;
}

const secret = '0'.repeat(40);

test('tokens that no application has adopted are listed without their secrets, also after a restart', async () => {
  const { service } = await openUnleash();
  const send = (authorization: string, more: Record<string, string> = {}) =>
    post(service, '/client/metrics', message({ checkout: { yes: 1 } }), { authorization, ...more });
  const named = { ...sdk('python'), 'unleash-appname': 'billing' };
  for (const _ of [1, 2]) expect((await send(`default:staging.${secret}`, named)).status).toBe(404);
  expect((await send('a password')).status).toBe(404);
  expect((await send(`*:development.${secret}`, { 'user-agent': 'shop' })).status).toBe(404);
  const expected = [
    { token: '*:development.…', sender: 'shop', count: 1 },
    { token: 'default:staging.…', sender: 'billing (unleash-python-sdk 6.0.0)', count: 2 },
  ];
  const byToken = async (from: LocalService) =>
    (await refused(from)).toSorted((a, b) => a.token.localeCompare(b.token));
  await expect.poll(() => byToken(service)).toMatchObject(expected);
  await service.stop();
  const again = await startLocal({ data: service.data, credentials: service.credentials });
  const kept = await byToken(again);
  expect(kept).toMatchObject(expected);
  expect(JSON.stringify(kept)).not.toContain(secret);
  await again.stop();
});

test('the list of refused tokens has at most 50 entries, and merges further tokens', async () => {
  const { service } = await openUnleash();
  for (let n = 0; n < 80; n += 1)
    await post(service, '/client/metrics', message({}), { authorization: `p${n}:production.${secret}` });
  await expect
    .poll(async () => (await refused(service)).find(({ sender }) => sender === '__other__'))
    .toMatchObject({ token: '__other__', count: 30 });
  expect((await refused(service)).length).toBeLessThanOrEqual(50);
  await service.stop();
});

test.each([
  [`default:production.${secret}`, 'default:production.…'],
  [`*:development.unleash-insecure-api-token`, '*:development.…'],
  [`[]:production.${secret}`, '[]:production.…'],
  [`Bearer a:b.${secret}`, undefined],
  ['password', undefined],
  ['a:b.', undefined],
])('findOpenPart returns, for the token %s, the part %s without the secret', (text, open) => {
  expect(findOpenPart(text)).toBe(open);
});
