import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/runtime/clock.ts';
import { checkDirectory, type Finding } from '../../src/storage/backup/check-directory.ts';
import { Pace } from '../../src/storage/backup/pace.ts';
import { checkStores } from '../../src/storage/lmdb/layout.ts';
import { openUsageTables } from '../../src/storage/lmdb/usage.ts';
import { freshDirectory, prepare, startBinary, stop } from '../support/binary.ts';
import { damagePage, type PageKind, pagesIn } from '../support/damage.ts';
import { freePorts } from '../support/free-ports.ts';
import { runBinary } from '../support/run-binary.ts';
import { type Credentials, openShop, readChecks, type Shop, sendCheck } from '../support/shop.ts';

/** A used data directory with pages of all kinds. Each test damages a copy of it. */
let used: { data: string; credentials: Credentials; shop: Shop };
/** A copy of the directory that was made before filler records were added. */
let sound: string;

beforeAll(async () => {
  const data = `${freshDirectory()}/data`;
  const credentials = await prepare(data);
  const service = await startBinary({ data });
  const shop = await openShop(service.http, credentials);
  expect(await sendCheck(service.http, shop.key, 'checkout')).toBe(202);
  await stop(service);
  sound = `${freshDirectory()}/data`;
  cpSync(data, sound, { recursive: true });
  const store = openUsageTables(data);
  const formatKey = (number: number) => Buffer.from(`9999${String(number).padStart(9, '0')}`);
  for (const size of [300, 9000, 300]) {
    store.lmdb.transactionSync(() => {
      for (let number = 0; number < 300; number += 1) store.counts.putSync(formatKey(number), Buffer.alloc(size));
    });
  }
  store.lmdb.transactionSync(() => {
    for (let number = 0; number < 40; number += 1) store.counts.putSync(formatKey(number), Buffer.alloc(9000));
  });
  await store.lmdb.close();
  used = { data, credentials, shop };
});

function copy(): { data: string; file: string } {
  const data = `${freshDirectory()}/data`;
  cpSync(used.data, data, { recursive: true });
  return { data, file: `${data}/usage/data.mdb` };
}

const serve = (data: string) => runBinary(['serve', '--data', data, ...freePorts]);

/** Kinds of damage to a page: name, offset in the page, and bytes to write there. */
const damages: readonly (readonly [what: string, at: number, bytes: Buffer])[] = [
  ['zeros', 0, Buffer.alloc(4096)],
  ['another page number', 0, Buffer.from([0xff])],
  ['another page kind', 10, Buffer.from([0x77])],
  ['bounds outside of the page', 12, Buffer.from([0xff, 0xff, 0xff, 0xff])],
  ['noise', 0, Buffer.from(Array.from({ length: 4096 }, (_, index) => (index * 131 + 7) % 256))],
];

const kinds: readonly PageKind[] = ['branch', 'leaf', 'overflow', 'free list'];

/** Damages the last page of a kind in a copy of the used directory. */
function damageKind(kind: PageKind, at: number, bytes: Buffer) {
  const { data, file } = copy();
  const page = pagesIn(file).get(kind)?.at(-1) as number;
  damagePage(file, page, at, bytes);
  return { data, file, page };
}

describe.each(kinds)('a %s page', (kind) => {
  test.each(damages)('the checks of startup and verify find a page overwritten with %s', async (_what, at, bytes) => {
    const { data, file, page } = damageKind(kind, at, bytes);
    expect(() => checkStores(data, { monotonic: () => 0 })).toThrow(`Cannot open ${file}: it is damaged: page ${page}`);
    const findings: Finding[] = [];
    const pace = new Pace({ clock: systemClock, over: new AbortController().signal });
    expect(await checkDirectory(data, pace, (finding) => findings.push(finding))).toBe(false);
    expect(findings).toMatchObject([
      { file: expect.stringContaining('accounts/data.mdb'), isSound: true },
      { file, isSound: false, words: expect.stringContaining(`it is damaged: page ${page}`) },
    ]);
  });

  test('startup and verify report the file of a damaged page, and recommend restoring a backup', async () => {
    const [, offset, noise] = damages[kinds.indexOf(kind)]!;
    const { data, file, page } = damageKind(kind, offset, noise);
    const started = await serve(data);
    expect(started).toMatchObject({ code: 1, signal: null });
    expect(started.stderr).toContain(`Cannot open ${file}: it is damaged: page ${page}`);
    expect(started.stderr).toContain('restore the data directory from a backup');
    const verified = await runBinary(['verify', '--data', data]);
    expect(verified).toMatchObject({ code: 1, signal: null });
    expect(verified.stdout).toMatch(/accounts\/data\.mdb: in order, \d+ pages in use/);
    expect(verified.stdout).toContain(`${file}: it is damaged: page ${page}`);
    expect(verified.stderr).toContain('restore the data directory from a backup');
  });
});

test('startup fails on a leaf page whose pointers lead out of the page', async () => {
  const { data, file } = copy();
  damagePage(file, pagesIn(file).get('leaf')!.at(-1)!, 16, Buffer.from([0xf8, 0xff]));
  expect(await serve(data)).toMatchObject({ code: 1, signal: null });
});

describe('damaged accounts on well-formed pages', () => {
  function damaged(from: string, to: string) {
    const { data } = copy();
    const file = `${data}/accounts/data.mdb`;
    const bytes = readFileSync(file, 'latin1').replaceAll(from, to);
    writeFileSync(file, bytes, 'latin1');
    return { data, file, bytes };
  }

  test.each([
    ['a record that is not JSON', '"createdAt":', '"createdAt";'],
    ['a record without a field', '"allowedOrigins":', '"allowedOriginz":'],
  ])('startup fails if the accounts contain %s, and the error shows the file', async (_what, from, to) => {
    const { data, file } = damaged(from, to);
    const started = await serve(data);
    expect(started).toMatchObject({ code: 1, signal: null });
    expect(started.stderr).toContain(`Cannot open ${file}: its contents cannot be read (`);
    expect(started.stderr).toContain('restore the data directory from a backup');
  });

  test('damaged accounts are not mistaken for a store that was never initialised', async () => {
    const { data, file, bytes } = damaged('layout1', 'laypet1');
    rmSync(`${data}/usage`, { recursive: true });
    const started = await serve(data);
    expect(started).toMatchObject({ code: 1, signal: null });
    expect(started.stderr).toContain(`Cannot open ${file}: it has users, but not the number of its layout`);
    expect(bytes).toContain(used.shop.application);
    expect(readFileSync(file, 'latin1')).toContain(used.shop.application);
  });
});

describe('damage that startup has not detected', () => {
  /**
   * Starts a service on a store whose pages it has not read yet, and then overwrites some of these pages with noise.
   */
  async function serveDamaged(choose: (pages: ReturnType<typeof pagesIn>, file: Buffer) => number[]) {
    const { data, file } = copy();
    const service = await startBinary({ data });
    const bytes = Buffer.from([0x77, 0x77, 0xff, 0xff]);
    for (const page of choose(pagesIn(file), readFileSync(file))) damagePage(file, page, 10, bytes);
    return { ...service, file };
  }

  test('a report that reads damaged pages gets status 503, and the log contains the file and the remedy', async () => {
    // Damages only pages with the names of series. A report reads them, but upkeep does not.
    const hasNames = (file: Buffer, page: number) =>
      file.subarray(page * 4096, (page + 1) * 4096).includes('["checkout","on"]');
    const service = await serveDamaged((pages, file) => pages.get('leaf')!.filter((page) => hasNames(file, page)));
    await expect(readChecks(service.http, used.shop)).rejects.toThrow('answered 503');
    const named = `Page \\d+ of ${service.file} is damaged: stop the service and run`;
    expect(service.stderr()).toMatch(new RegExp(named));
    await stop(service);
  });

  test.each([[['leaf', 'branch']], [['free list']]] as const)(
    'damage to a page (%s) ends the process with code 1, and only packets that can be stored are accepted',
    async (damaged) => {
      const service = await serveDamaged((pages) => damaged.flatMap((kind) => pages.get(kind) ?? []));
      let status: number | undefined = 202;
      // The store reads the free list when the available pages are used up.
      for (let sent = 0; status === 202 && sent < 200; sent += 1) {
        status = await sendCheck(service.http, used.shop.key, `feature-${sent}`);
        await readChecks(service.http, used.shop).catch(() => {}); // Reading the report folds the journal.
      }
      // The status is `undefined` if upkeep reads the damaged page first and ends the process.
      expect([503, undefined]).toContain(status);
      expect(await service.exit).toEqual({ code: 1, signal: null });
      expect(service.stderr()).toMatch(new RegExp(`Page \\d+ of ${service.file} is damaged`));
    },
  );
});

describe('verify', () => {
  test('verify prints the number of pages of undamaged files', async () => {
    const { code, stdout, stderr } = await runBinary(['verify', '--data', sound]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(
      /^.*accounts\/data\.mdb: in order, \d+ pages in use\n.*usage\/data\.mdb: in order, \d+ pages in use\n.*accounts\/data\.mdb: every record is in order\n.*usage\/data\.mdb: every record is in order, and counts add up\n$/,
    );
    expect(stdout).toContain(`${sound}/usage/data.mdb`);
  });

  test('verify refuses a directory in use', async () => {
    const { data } = copy();
    const service = await startBinary({ data });
    const { code, stderr } = await runBinary(['verify', '--data', data]);
    expect(code).toBe(1);
    expect(stderr).toBe(
      `Cannot use the data directory ${data}: process ${service.pid} is using it; stop it first, or check a copy: flagmeter backup --data ${data} --to FILE, then flagmeter verify FILE\n`,
    );
    await stop(service);
  });

  test('verify does not create a missing directory', async () => {
    const data = `${freshDirectory()}/mistyped`;
    expect(await runBinary(['verify', '--data', data])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Cannot verify'),
    });
    expect(existsSync(data)).toBe(false);
  });
});
