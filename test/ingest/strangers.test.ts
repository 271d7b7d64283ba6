import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cleanUp, createApplication, createKey, token } from '../support/binary.ts';
import { type LocalService, startLocal } from '../support/service.ts';

let service: LocalService;
let key = '';

beforeAll(async () => {
  service = await startLocal();
  const access = await token(service.http, service.credentials);
  const application = await createApplication(service.http, access, { name: 'shop' });
  key = (await createKey(service.http, access, application, 'Backend')).key;
});
afterAll(async () => {
  await service.stop();
  cleanUp();
});

/** A report of 4 MiB with nothing right in its entries; some kB when it is sent. */
const amplified = (appKey: string) => {
  const head = `{"appKey":"${appKey}","environment":"Production","time":"${new Date().toISOString()}","stats":[`;
  return gzipSync(`${head}${'{},'.repeat(1_397_000)}{}]}`);
};

async function report(
  body: Uint8Array | string,
): Promise<{ status: number; code?: string; detail?: string }> {
  const headers = {
    'content-type': 'application/json',
    ...(typeof body === 'string' ? {} : { 'content-encoding': 'gzip' }),
  };
  const answer = await fetch(`http://${service.http}/api/usage/stats`, { method: 'POST', headers, body });
  return { status: answer.status, ...((await answer.json()) as object) };
}

describe('large reports that name no application', () => {
  test('share one small allowance, whatever keys they name', async () => {
    const statuses = [];
    for (let n = 0; n < 6; n += 1) statuses.push((await report(amplified(`key-${n}`))).status);
    expect(statuses.slice(0, 4)).toEqual([400, 400, 400, 400]);
    expect(statuses).toContain(429);
  });

  test('do not keep any application from sending its own', async () => {
    const stats = Array.from({ length: 500 }, (_, at) => ({ feature: `feature-${at}`, enabledCount: 1 }));
    const body = { appKey: key, environment: 'Production', time: new Date().toISOString(), stats };
    expect(await report(JSON.stringify(body))).toMatchObject({ status: 200, featureCount: 500 });
  });
});

test('the first wrong entry of a large report is named', async () => {
  const stats: object[] = Array.from({ length: 5_000 }, (_, at) => ({ feature: `f${at}`, enabledCount: 1 }));
  stats[3_210] = { feature: 'f', enabledCount: -1 };
  stats[4_000] = {};
  const body = { appKey: key, environment: 'Production', time: new Date().toISOString(), stats };
  expect(await report(JSON.stringify(body))).toMatchObject({
    status: 400,
    code: 'invalid_count',
    detail: expect.stringContaining('/stats/3210/enabledCount'),
  });
});
