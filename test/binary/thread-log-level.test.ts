import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { cleanUp, freshDirectory, prepare, startBinary } from '../support/binary.ts';
import { openSender } from '../support/packet-sender.ts';
import { openShop } from '../support/shop.ts';

afterAll(cleanUp);

test('a reload changes the log level of front-end threads', async () => {
  const directory = freshDirectory();
  const [data, config] = [join(directory, 'data'), join(directory, 'config.json')];
  const write = (logLevel: string) => writeFileSync(config, JSON.stringify({ logLevel }));
  write('error');
  const credentials = await prepare(data);
  const service = await startBinary({
    data,
    args: ['--threads', '2', '--slow-request', '1', '--config', config],
  });
  const { key } = await openShop(service.http, credentials);
  const senders = Array.from({ length: 24 }, () => openSender(service.http));
  onTestFinished(() => {
    for (const sender of senders) sender.close();
  });
  const packet = { k: key, e: 'Production', f: { checkout: { on: [1] } } };
  const slowPackets = async () => {
    for (let round = 0; round < 10; round += 1)
      await Promise.all(senders.map((sender) => sender.send(packet)));
    const lines = service.stderr().split('\n');
    return lines.filter((line) => line.includes('slow request') && line.includes('telemetry')).length;
  };
  expect(await slowPackets()).toBe(0);
  write('warn');
  service.kill('SIGHUP');
  await expect.poll(slowPackets).toBeGreaterThan(0);
});
