import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { testClock } from '../accounts/fixture.ts';
import { createApplication, createKey, token } from '../support/binary.ts';
import { opened } from '../support/opened.ts';
import { startLocal } from '../support/service.ts';

/** A clock that does not advance, so that no rate limit regains tokens while reports are decoded. */
const clock = testClock(Date.now());

const service = opened(() => startLocal({ clock, args: ['--trusted-proxies', 'loopback'] }));
let key = '';
let access = '';

beforeAll(async () => {
  access = await token(service.http, service.credentials);
  const application = await createApplication(service.http, access, { name: 'shop' });
  key = (await createKey(service.http, access, application, 'Backend')).key;
});

/** Creates a report of 4 MiB without an environment, compressed to a few kB. */
const amplified = (appKey: string) => {
  const head = `{"appKey":"${appKey}","time":"${new Date(clock.now()).toISOString()}","stats":[`;
  return gzipSync(`${head}${'{},'.repeat(1_397_000)}{}]}`);
};

async function report(
  body: Uint8Array | string,
  from = '192.0.2.9',
): Promise<{ status: number; code?: string; detail?: string }> {
  const headers = {
    'content-type': 'application/json',
    'x-forwarded-for': from,
    ...(typeof body === 'string' ? {} : { 'content-encoding': 'gzip' }),
  };
  const response = await fetch(`http://${service.http}/api/usage/stats`, { method: 'POST', headers, body });
  return { status: response.status, ...((await response.json()) as object) };
}

describe('large reports that name no application', () => {
  test('large reports of one network share a small rate limit, even if they contain different unknown keys', async () => {
    const statuses = [];
    for (let n = 0; n < 4; n += 1) statuses.push((await report(amplified(`key-${n}`), '192.0.2.1')).status);
    expect(statuses).toEqual([413, 429, 429, 429]);
  });

  test('large reports of a network over its rate limit are refused before they are decompressed', async () => {
    const cut = gzipSync(randomBytes(200_000)).subarray(0, 150_000);
    expect(await report(cut, '192.0.2.2')).toMatchObject({ status: 400, code: 'invalid_content_encoding' });
    await report(amplified('key'), '192.0.2.2');
    expect(await report(cut, '192.0.2.2')).toMatchObject({ status: 429 });
  });

  test('large reports of one network do not block another network whose report has the key in the last field', async () => {
    const stats = Array.from({ length: 20_000 }, (_, at) => ({ feature: `feature-${at}`, enabledCount: 1 }));
    const body = { stats, time: new Date().toISOString(), environment: 'Production', appKey: key };
    expect(await report(gzipSync(JSON.stringify(body)), '192.0.2.3')).toMatchObject({
      status: 200,
      featureCount: 20_000,
    });
  });

  test('large reports of unknown senders do not prevent an application from sending its own reports', async () => {
    const stats = Array.from({ length: 500 }, (_, at) => ({ feature: `feature-${at}`, enabledCount: 1 }));
    const body = { appKey: key, environment: 'Production', time: new Date(clock.now()).toISOString(), stats };
    expect(await report(JSON.stringify(body))).toMatchObject({ status: 200, featureCount: 500 });
  });
});

test('the entries of a large report count towards the rate limit, which delays the next report', async () => {
  const application = await createApplication(service.http, access, { name: 'slow', rate: 1, burst: 100 });
  const slow = (await createKey(service.http, access, application, 'Backend')).key;
  const stats = Array.from({ length: 20_000 }, (_, at) => ({ feature: `f${at}` }));
  const body = () => JSON.stringify({ appKey: slow, environment: 'Production', time: new Date().toISOString(), stats });
  expect(await report(body())).toMatchObject({ status: 200 });
  expect(await report(body())).toMatchObject({ status: 429, code: 'rate_limited' });
});

test('a large report with invalid entries counts its valid entries', async () => {
  const stats: object[] = Array.from({ length: 5_000 }, (_, at) => ({ feature: `f${at}`, enabledCount: 1 }));
  stats[3_210] = { feature: 'f', enabledCount: 2 ** 31 };
  stats[4_000] = {};
  const body = { appKey: key, environment: 'Production', time: new Date(clock.now()).toISOString(), stats };
  expect(await report(JSON.stringify(body))).toEqual({ status: 200, featureCount: 5_000 });
});
