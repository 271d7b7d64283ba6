import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { RawClient, type RawResponse } from '../http/support/raw-client.ts';
import { type Binary, freshDirectory, prepare, startBinary, stop, token } from '../support/binary.ts';
import { openShop } from '../support/shop.ts';

/** Sets the soft limit on open files of a process. */
function limitFiles({ pid }: Binary, limit: number): void {
  execFileSync('prlimit', ['--pid', `${pid}`, ['--nofile', `${limit}:`].join('=')]);
}

/** Returns the lowest free descriptor of a process. */
function nextDescriptor({ pid }: Binary): number {
  const open = new Set(readdirSync(`/proc/${pid}/fd`).map(Number));
  let next = 0;
  while (open.has(next)) next += 1;
  return next;
}

/** Starts a service with an open connection. Each of the returned requests makes the service start a thread. */
async function start() {
  const data = `${freshDirectory()}/data`;
  const credentials = await prepare(data);
  const service = await startBinary({ data });
  const { key, application } = await openShop(service.http, credentials);
  const bearer = await token(service.http, credentials);
  const client = await RawClient.open(Number(service.http.split(':')[1]));
  const call = (method: string, path: string, body?: object): Promise<RawResponse> => {
    const text = body === undefined ? '' : JSON.stringify(body);
    const head = [`${method} ${path} HTTP/1.1`, 'Host: x', `Authorization: Bearer ${bearer}`];
    const content = ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(text)}`];
    client.write(`${[...head, ...content].join('\r\n')}\r\n\r\n${text}`);
    return client.read();
  };
  const stats = (count: number) => {
    const all = Array.from({ length: count }, (_, at) => ({ featureName: `flag-${at}`, variants: { on: 1 } }));
    return { appKey: key, environment: 'Production', time: new Date().toISOString(), stats: all };
  };
  const range = 'from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z&step=hour&environment=Production';
  const requests = {
    report: () => call('GET', `/api/v2/applications/${application}/usage?${range}`),
    password: () =>
      call('POST', '/api/v2/users', {
        email: `${randomUUID()}@example.com`,
        name: 'Ada',
        password: 'vN3-quartz-lantern',
      }),
    largeReport: () => call('POST', '/api/usage/stats', stats(5_000)),
  };
  expect((await call('POST', '/api/usage/stats', stats(1))).status).toBe(200); // This opens the journal.
  return { service, call, requests, close: () => client.close() };
}

test('the process survives its first report, password check and large report without a free file descriptor', async () => {
  const { service, call, requests, close } = await start();
  limitFiles(service, nextDescriptor(service));
  const first = Object.values(requests);
  for (const send of first) expect([200, 201, 503]).toContain((await send()).status);
  expect((await call('GET', '/healthz')).status).toBe(200);
  limitFiles(service, 1024);
  for (const send of first) await expect.poll(async () => (await send()).status).toBeLessThan(300);
  close();
  expect(await stop(service)).toMatchObject({ code: 0 });
});
