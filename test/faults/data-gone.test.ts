import { copyFileSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { binaryPath, freshDirectory, startBinary, startProcess, stop } from '../support/binary.ts';
import { freePorts } from '../support/free-ports.ts';
import { copyPrepared } from '../support/prepared.ts';
import { openShop, sendCheck } from '../support/shop.ts';

async function startShop() {
  const data = `${freshDirectory()}/data`;
  const credentials = await copyPrepared(data);
  const service = await startBinary({ data });
  return { service, data, shop: await openShop(service.http, credentials) };
}

/** Possible responses if the journal still exists. In this case, the packet can be accepted. */
const ofJournal = [202, 503, undefined];

/** Ways in which a running service loses its data directory, and the possible responses to the next packet. */
const losses: readonly [string, (data: string) => void, answers?: (number | undefined)[]][] = [
  ['the directory is removed', (data) => rmSync(data, { recursive: true })],
  ['the directory is moved', (data) => renameSync(data, `${data}-moved`)],
  ['the usage is removed', (data) => rmSync(`${data}/usage/data.mdb`), ofJournal],
  [
    'the usage is replaced by a copy',
    (data) => {
      const file = `${data}/usage/data.mdb`;
      copyFileSync(file, `${file}.copy`);
      renameSync(`${file}.copy`, file);
    },
    ofJournal,
  ],
];

describe.each(losses)('a server whose data directory is lost: %s', (_what, lose, statuses = [503, undefined]) => {
  test('a server that lost its directory accepts only packets in the journal, and exits with code 1', async () => {
    const { service, data, shop } = await startShop();
    expect(await sendCheck(service.http, shop.key, 'kept')).toBe(202);
    lose(data);
    expect(statuses).toContain(await sendCheck(service.http, shop.key, 'lost'));
    expect(await service.exit).toEqual({ code: 1, signal: null });
    expect(service.stderr()).toMatch(/while it was in use|no such file or directory/);
  });
});

test('a server that lost its directory exits with code 1 even if no packets arrive', async () => {
  const { service, data } = await startShop();
  renameSync(data, `${data}-moved`);
  expect(await service.exit).toEqual({ code: 1, signal: null });
});

test('a second service cannot use the directory of a running service, even if files were removed from it', async () => {
  const { service, data } = await startShop();
  for (const name of readdirSync(data)) {
    if (name !== 'accounts' && name !== 'usage') rmSync(join(data, name), { recursive: true });
  }
  for (const name of ['accounts', 'usage']) rmSync(`${data}/${name}/lock.mdb`);
  await expect(startProcess(binaryPath, ['serve', '--data', data, ...freePorts])).rejects.toThrow(
    `process ${service.pid} is using it`,
  );
  await stop(service);
});
