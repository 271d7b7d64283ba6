import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect } from 'vitest';
import { freshDirectory, prepare, startBinary, stop } from '../support/binary.ts';
import { acceptIdentities, type CountedChecks, ExactLoad } from '../support/exact-load.ts';
import { frontThreads } from '../support/front-threads.ts';
import { needing } from '../support/needing.ts';
import { RecordedDisk } from '../support/power-loss.ts';
import { seededRandom } from '../support/random.ts';
import { recorded } from '../support/recorded-disk.ts';
import { openShop, type Shop } from '../support/shop.ts';
import { readStoredChecks } from '../support/stored-checks.ts';

const { test } = needing('g++');

/** The environment variables `IMAGES=500 SEED=7` set the number of disk images and their seed. */
const images = Number(process.env['IMAGES'] ?? 40);
const seed = Number(process.env['SEED'] ?? 1);
const imagesOfRun = 100;
/** The executable starts on one of this many images. The test itself folds the journals of the other images. */
const imagesOfExecutable = 10;

/** A recorded run of a server: its files at the start, and the packets that were sent. */
interface Run {
  readonly data: string;
  readonly base: ReadonlyMap<string, Buffer>;
  readonly record: string;
  readonly shop: Shop;
  readonly load: ExactLoad;
}

function filesIn(data: string): Map<string, Buffer> {
  const names = readdirSync(data, { recursive: true, withFileTypes: true });
  const paths = names.filter((each) => each.isFile()).map((each) => join(each.parentPath, each.name));
  return new Map(
    paths.filter((path) => !path.endsWith('lock.mdb')).map((path) => [path.slice(data.length + 1), readFileSync(path)]),
  );
}

/** Records a server that commits, folds and begins new segments, until it is stopped. */
async function record(name: string, threads: string): Promise<Run> {
  const data = join(freshDirectory(), 'data');
  const credentials = await prepare(data);
  const first = await startBinary({ data });
  const shop = await openShop(first.http, credentials);
  await acceptIdentities(first.http, shop);
  first.kill('SIGTERM');
  await first.exit;
  const base = filesIn(data);
  const { env, file, length } = recorded(data);
  const service = await startBinary({ data, env, args: frontThreads(Number(threads)) });
  const load = new ExactLoad(length);
  const left = { large: 90, small: 200 };
  const send = (at: number, kind: keyof typeof left) =>
    load.send(service, shop, `${name}-${at}`, kind === 'large' ? undefined : `user-${name}`, () => {
      left[kind] -= 1;
      return left[kind] > 0;
    });
  const reading = async () => {
    while (left.small > 0) await load.read(service.http, shop);
  };
  const senders = [send(0, 'large'), send(1, 'large'), send(2, 'small'), send(3, 'small')];
  await Promise.all([...senders, reading()]);
  service.kill('SIGTERM');
  await service.exit;
  return { data, base, record: file, shop, load };
}

/** Reads the counts on a disk image. */
type Read = (run: Run, data: string) => Promise<CountedChecks>;

const readByExecutable: Read = async ({ load, shop }, data) => {
  const service = await startBinary({ data, args: ['--existing'] });
  const counted = await load.read(service.http, shop);
  await stop(service, 'SIGKILL');
  return counted;
};

const readByFolding: Read = (_, data) => readStoredChecks(data);

/** Returns the accepted packets that are counted twice or not at all on a disk image. */
async function findFaults(run: Run, disk: RecordedDisk, event: number, random: () => number, read: Read) {
  const through = disk.goTo(event);
  const data = join(freshDirectory(), 'data');
  disk.losePower(data, random);
  const faults = run.load.faults(await read(run, data), through + 1);
  rmSync(data, { recursive: true });
  return faults;
}

/** Chooses random event numbers, in ascending order. */
function draw(count: number, events: number, random: () => number): number[] {
  return Array.from({ length: count }, () => 1 + Math.floor(random() * events)).sort((a, b) => a - b);
}

let runs: Run[];

beforeAll(async () => {
  runs = [];
  for (let at = 0; at * imagesOfRun < images; at += 1)
    runs.push(await record(`${seed}-${at}`, at % 2 === 0 ? '3' : '0'));
});

test(
  `accepted packets are counted once after each of ${images} power losses`,
  async () => {
    const random = seededRandom(seed);
    for (const [at, run] of runs.entries()) {
      const disk = new RecordedDisk(run.record, run.data, run.base);
      const count = Math.min(imagesOfRun, images - at * imagesOfRun);
      for (const [image, event] of draw(count, disk.events, random).entries()) {
        const read = image % imagesOfExecutable === 0 ? readByExecutable : readByFolding;
        const faults = await findFaults(run, disk, event, random, read);
        expect(faults, `run ${at}, event ${event} of ${disk.events}`).toEqual([]);
      }
      console.log(`${count} images of ${disk.events} events, ${run.load.accepted} accepted packets`);
    }
  },
  images * 10_000,
);

test('a server that does not flush its journal loses packets in a power loss', async () => {
  const run = runs[0]!;
  const disk = new RecordedDisk(run.record, run.data, run.base, (path) => !path.endsWith('.segment'));
  const random = seededRandom(seed);
  let faults: string[] = [];
  for (const event of draw(8, disk.events, random)) {
    if (faults.length > 0) break;
    const found = findFaults(run, disk, event, random, readByFolding);
    faults = await found.catch((error) => [(error as Error).message]);
  }
  expect(faults).not.toEqual([]);
});
