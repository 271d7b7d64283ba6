import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { binaryPath, freshDirectory, prepare, startBinary, startProcess, stop } from '../support/binary.ts';
import { freePorts } from '../support/free-ports.ts';
import { frontThreads } from '../support/front-threads.ts';
import { openSender } from '../support/packet-sender.ts';
import { openShop } from '../support/shop.ts';

/** A packet that takes a millisecond counts as slow, so each thread logs one line per second. */
const args = [...frontThreads(2), '--slow-request', '1'];

/** Sends packets on so many connections that each thread accepts some. @returns the statuses */
async function sendTo(metrics: string, key: string): Promise<ReadonlySet<number | undefined>> {
  const senders = Array.from({ length: 24 }, () => openSender(metrics));
  const packet = { k: key, e: 'Production', f: { checkout: { on: [1] } } };
  const statuses = new Set<number | undefined>();
  for (let round = 0; round < 10; round += 1) {
    for (const status of await Promise.all(senders.map((sender) => sender.send(packet)))) statuses.add(status);
  }
  for (const sender of senders) sender.close();
  return statuses;
}

test('a reload changes the log level of front-end threads', async () => {
  const directory = freshDirectory();
  const data = join(directory, 'data');
  const config = join(directory, 'config.json');
  const write = (logLevel: string) => writeFileSync(config, JSON.stringify({ logLevel }));
  write('error');
  const credentials = await prepare(data);
  const service = await startBinary({ data, args: [...args, '--config', config] });
  const { key } = await openShop(service.http, credentials);
  const slowPackets = async () => {
    await sendTo(service.metrics, key);
    const lines = service.stderr().split('\n');
    return lines.filter((line) => line.includes('slow request') && line.includes('telemetry')).length;
  };
  expect(await slowPackets()).toBe(0);
  write('warn');
  service.kill('SIGHUP');
  await expect.poll(slowPackets).toBeGreaterThan(0);
});

test.each([
  ['is closed', '2>&-'],
  ['is a closed pipe', '2> >(exec true)'],
])('front-end threads accept packets if standard error %s', async (_how, redirection) => {
  const data = join(freshDirectory(), 'data');
  const credentials = await prepare(data);
  const serve = [binaryPath, 'serve', '--data', data, ...freePorts, ...args];
  const service = await startProcess('bash', ['-c', `exec "$@" ${redirection}`, 'bash', ...serve]);
  const { key } = await openShop(service.http, credentials);
  for (let round = 0; round < 5; round += 1) expect(await sendTo(service.metrics, key)).toEqual(new Set([202]));
  expect(await stop(service)).toEqual({ code: 0, signal: null });
});
