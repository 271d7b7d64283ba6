import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readServer, type ServerReading, usageBetween } from '../../src/bench/load/server-usage.ts';
import { createApplication, createKey, freshDirectory, prepare, startBinary, token } from '../support/binary.ts';

const reading: ServerReading = {
  threads: [
    { id: 1, name: 'main', seconds: 2 },
    { id: 2, name: 'journal', seconds: 1 },
  ],
  commitSeconds: 0.5,
};

test('the difference of two readings compares threads with the same id, and includes new threads', () => {
  const after: ServerReading = {
    threads: [
      { id: 1, name: 'main', seconds: 5 },
      { id: 3, name: 'journal', seconds: 0.25 },
    ],
    commitSeconds: 1.5,
  };
  expect(usageBetween(reading, after)).toEqual({
    threads: [
      { id: 1, name: 'main', seconds: 3 },
      { id: 3, name: 'journal', seconds: 0.25 },
    ],
    commitSeconds: 1,
  });
});

test('a reading of a server contains the number of commits and the names of the threads', async () => {
  const data = join(freshDirectory(), 'data');
  const credentials = await prepare(data);
  const { http, pid } = await startBinary({ data });
  const read = async () => readServer({ pid, data }, await (await fetch(`http://${http}/metrics`)).text());
  const before = await read();
  const bearer = await token(http, credentials);
  const { key } = await createKey(http, bearer, await createApplication(http, bearer, { name: 'shop' }), 'Mobile');
  const body = JSON.stringify({ k: key, e: 'Production', f: { checkout: { on: [1] } } });
  for (let packet = 0; packet < 5; packet += 1) {
    const { status } = await fetch(`http://${http}/api/frontend/telemetry`, { method: 'POST', body });
    expect(status).toBe(202);
  }
  const used = async () => usageBetween(before, await read());
  await expect.poll(async () => (await used()).commitSeconds).toBeGreaterThan(0);
  const usage = await used();
  expect(usage.threads.map(({ name }) => name)).toEqual(expect.arrayContaining(['journal', 'fold']));
  expect(usage.threads.find(({ id }) => id === pid)!.seconds).toBeGreaterThan(0);
});
