import { copyFileSync, cpSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, expect } from 'vitest';
import { frameSize, segmentNames } from '../../src/storage/journal/segment.ts';
import { readFolded } from '../../src/storage/lmdb/layout.ts';
import { openUsageTables } from '../../src/storage/lmdb/usage.ts';
import { freshDirectory, prepare, startBinary, stop, token } from '../support/binary.ts';
import { acceptIdentities, ExactLoad } from '../support/exact-load.ts';
import { freePorts } from '../support/free-ports.ts';
import { readLedger } from '../support/ledger-report.ts';
import { needing } from '../support/needing.ts';
import { openSender } from '../support/packet-sender.ts';
import { killedAt } from '../support/recorded-disk.ts';
import { runBinary } from '../support/run-binary.ts';
import { openShop, readChecks, type Shop, sendCheck } from '../support/shop.ts';

const { describe, test } = needing('g++');

/** The data directory of a killed server. Each test damages a copy of it. */
interface KilledServer {
  readonly data: string;
  readonly shop: Shop;
  readonly load: ExactLoad;
  /** Number of the first frame that was not folded into the store. It is 1, unless a slow machine had time to fold. */
  readonly firstUnfolded: number;
}

/**
 * Creates the data directory of a killed server, with two segments.
 * @param path file whose write number `at` kills the server
 */
async function kill(path: string, at: number): Promise<KilledServer> {
  const data = join(freshDirectory(), 'data');
  // Each directory needs its own journal, so the directories are prepared separately.
  const credentials = await prepare(data);
  const { env, arm } = killedAt(data, { on: 'w', path, at });
  const service = await startBinary({ data, env });
  const shop = await openShop(service.http, credentials);
  await acceptIdentities(service.http, shop);
  arm();
  const load = new ExactLoad();
  await Promise.all([load.send(service, shop, 'large', undefined), load.send(service, shop, 'small', 'user')]);
  await service.exit;
  return { data, shop, load, firstUnfolded: readFirstUnfolded({ data }) };
}

let killed: KilledServer;
let other: KilledServer;

beforeAll(async () => {
  // A slow machine can fold the whole first segment before the server is killed. Its damage would then be harmless.
  do killed = await kill('0000000002.segment$', 5);
  while (killed.firstUnfolded >= readFirstFrame(copy(killed).last));
  other = await kill('.segment$', 5);
});

function copy({ data }: Pick<KilledServer, 'data'>) {
  const to = join(freshDirectory(), 'data');
  cpSync(data, to, { recursive: true });
  const journal = join(to, 'journal/1');
  const segments = segmentNames(readdirSync(journal)).map((name) => join(journal, name));
  return { data: to, journal, first: segments[0]!, last: segments.at(-1)! };
}

type Copy = ReturnType<typeof copy>;

/** Reads the number of the first unfolded frame from a copy, as opening a store changes it. */
function readFirstUnfolded(killed: Pick<KilledServer, 'data'>): number {
  const { lmdb } = openUsageTables(copy(killed).data);
  const folded = readFolded(lmdb, '1');
  lmdb.close();
  return folded + 1;
}

/** Reads the number of the first frame from the header of a segment. */
function readFirstFrame(segment: string): number {
  return Number(readFileSync(segment).readBigUInt64LE(48));
}

function alter(file: string, change: (bytes: Buffer) => Buffer): void {
  writeFileSync(file, change(readFileSync(file)));
}

const flip = (offset: number) => (bytes: Buffer) => {
  bytes[offset]! ^= 1;
  return bytes;
};

const serve = (data: string) => runBinary(['serve', '--data', data, ...freePorts]);

const without = 'To start without the packets that were not yet folded into the store';
const restore = `Restore a backup. ${without}, move the journal away`;

/** Kinds of damage, each with the file, the offset and the reason that the error at startup must contain. */
const damages: readonly [
  what: string,
  damage: (copy: Copy) => void,
  file: (copy: Copy) => string,
  said: RegExp | ((firstUnfolded: number) => RegExp),
][] = [
  [
    'a truncated segment',
    ({ first }) => alter(first, (bytes) => bytes.subarray(0, 100_000)),
    ({ first }) => first,
    /at offset 100000: it has 100000 bytes instead of 1048576/,
  ],
  [
    'a flipped bit in a frame',
    ({ first }) => alter(first, flip(4096 + 20)),
    ({ first }) => first,
    (first) => new RegExp(`at offset 4096: frames ${first} to \\d+ are damaged or missing`),
  ],
  [
    'a flipped bit in a frame of the last segment',
    ({ last }) => alter(last, flip(4096 + 20)),
    ({ last }) => last,
    /at offset 4096: frame \d+ is damaged, and frame \d+ follows/,
  ],
  [
    'a flipped bit in a header',
    ({ last }) => alter(last, flip(50)),
    ({ last }) => last,
    /at offset 0: its header is damaged/,
  ],
  [
    'a segment under the name of a later segment',
    ({ first, journal }) => copyFileSync(first, join(journal, '0000000009.segment')),
    ({ journal }) => join(journal, '0000000009.segment'),
    /at offset 0: it is a copy of 0000000001\.segment/,
  ],
  [
    'a missing segment',
    ({ first }) => rmSync(first),
    ({ last }) => last,
    (first) => new RegExp(`at offset 0: frames ${first} to \\d+ are damaged or missing: it begins with \\d+`),
  ],
];

describe.each(damages)('%s', (_what, damage, file, said) => {
  test('a damaged journal ends startup with code 1, and the error contains the file and the offset', async () => {
    const damaged = copy(killed);
    damage(damaged);
    const { code, signal, stderr } = await serve(damaged.data);
    expect(stderr).toMatch(said instanceof RegExp ? said : said(killed.firstUnfolded));
    expect(stderr).toContain(`Cannot read journal segment ${file(damaged)} at offset`);
    expect(stderr).toContain(restore);
    expect({ code, signal }).toEqual({ code: 1, signal: null });
  });
});

test('a server counts again after its damaged journal was moved away', async () => {
  const damaged = copy(killed);
  damages[0]![1](damaged);
  expect((await serve(damaged.data)).code).toBe(1);
  renameSync(join(damaged.data, 'journal'), join(freshDirectory(), 'journal'));
  await expectCounting(damaged.data, killed.shop);
});

/** Starts a server, checks that it counts, and restarts it. */
async function expectCounting(data: string, shop: Shop): Promise<void> {
  const service = await startBinary({ data });
  expect(await sendCheck(service.http, shop.key, 'after')).toBe(202);
  expect((await readChecks(service.http, shop)).get('after')).toBe(1);
  service.kill('SIGKILL');
  await service.exit;
  const again = await startBinary({ data });
  expect(await sendCheck(again.http, shop.key, 'after')).toBe(202);
  expect((await readChecks(again.http, shop)).get('after')).toBe(2);
  expect(await stop(again)).toEqual({ code: 0, signal: null });
}

test('a journal without segments ends startup with code 1, and moving the journal away allows startup', async () => {
  const { data, journal } = copy(killed);
  for (const name of readdirSync(journal)) rmSync(join(journal, name));
  const { code, stderr } = await serve(data);
  expect(stderr).toContain(
    `Cannot read journal ${journal}: its segments are missing. Put the segments back, or restore a backup. ${without}, move the directory away`,
  );
  expect(code).toBe(1);
  const verified = await runBinary(['verify', '--data', data]);
  expect(verified.stdout).toContain(`Cannot read journal ${journal}: its segments are missing`);
  expect(verified.code).toBe(1);
  renameSync(journal, join(freshDirectory(), 'lane'));
  await expectCounting(data, killed.shop);
});

describe('a journal whose counts, but not users, are in the store', () => {
  /**
   * Kills a server after its first fold, which applies counts and users. Later folds omit the users for half a minute.
   */
  async function killHalfFolded(): Promise<Copy & Pick<KilledServer, 'shop'>> {
    const data = join(freshDirectory(), 'data');
    const credentials = await prepare(data);
    const service = await startBinary({ data });
    const shop = await openShop(service.http, credentials);
    await acceptIdentities(service.http, shop);
    const access = await token(service.http, credentials);
    for (const feature of ['first', 'second', 'third']) {
      const packet = { k: shop.key, e: 'Production', u: 'user', f: { [feature]: { on: [1] } } };
      const sender = openSender(service.http);
      for (let sent = 0; sent < 3; sent += 1) expect(await sender.send(packet)).toBe(202);
      sender.close();
      await readLedger(service.http, access, shop.application);
    }
    service.kill('SIGKILL');
    await service.exit;
    return { ...copy({ data }), shop };
  }

  test('a server counts again after a journal with folded counts but without folded users was moved away', async () => {
    const { data, shop } = await killHalfFolded();
    renameSync(join(data, 'journal'), join(freshDirectory(), 'journal'));
    await expectCounting(data, shop);
  });
});

describe('a damaged last frame', () => {
  function lastFrame(segment: Buffer): number {
    let offset = 4096;
    for (let next = offset; segment.readUInt32LE(next + 4) > 0; ) {
      offset = next;
      next += frameSize(segment.readUInt32LE(offset + 4));
    }
    return offset;
  }

  const warned = /the last frame is incomplete/;

  test('verify and startup report a damaged last frame with its position, and no later startup reports it', async () => {
    const { data, last } = copy(killed);
    const intact = await runBinary(['verify', '--data', data]);
    expect(intact).toMatchObject({ code: 0, stdout: expect.not.stringMatching(warned) });

    const offset = lastFrame(readFileSync(last));
    alter(last, flip(offset + 40));
    const reason = `journal segment ${last} at offset ${offset}: the last frame is incomplete: expected after a power loss, otherwise restore a backup`;
    const verified = await runBinary(['verify', '--data', data]);
    expect(verified.code).toBe(0);
    const ofJournal = verified.stdout.split('\n').filter((line) => line.startsWith(dirname(last)));
    expect(ofJournal).toEqual([
      expect.stringMatching(
        new RegExp(`^${last}: in order up to offset ${offset}, .*the last frame is incomplete: expected after`),
      ),
    ]);
    const service = await startBinary({ data });
    expect(service.stderr()).toMatch(warned);
    expect(service.stderr()).toContain(
      `"level":"warn","msg":"the end of the journal was not counted","reason":"${reason}"`,
    );
    await stop(service);
    const again = await startBinary({ data });
    again.kill('SIGKILL');
    await again.exit;
    const third = await startBinary({ data });
    await stop(third);
    expect(`${again.stderr()}${third.stderr()}`).not.toMatch(warned);
  });

  test.each([
    ['compact', []],
    ['backup', ['--to', 'file']],
  ])('%s reports a damaged last frame, because it folds the journal', async (command, args) => {
    const { data, last } = copy(killed);
    alter(last, flip(lastFrame(readFileSync(last)) + 40));
    const ended = await runBinary([command, '--data', data, ...args]);
    expect(ended).toMatchObject({ code: 0, stderr: expect.stringMatching(warned) });
  });
});

test('a segment of another data directory is rejected, and startup succeeds after its removal', async () => {
  const mine = copy(killed);
  const theirs = copy(other);
  const file = join(mine.journal, '0000000009.segment');
  copyFileSync(theirs.first, file);
  const { code, stderr } = await serve(mine.data);
  expect(stderr).toContain(
    `Cannot read journal segment ${file} at offset 0: it belongs to another data directory. Move it back to that directory`,
  );
  expect(code).toBe(1);
  rmSync(file);
  const service = await startBinary({ data: mine.data });
  expect(killed.load.faults(await killed.load.read(service.http, killed.shop))).toEqual([]);
  await stop(service);
});
