import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect } from 'vitest';
import { freshDirectory, prepare, startBinary } from '../support/binary.ts';
import { acceptIdentities, ExactLoad } from '../support/exact-load.ts';
import { frontThreads } from '../support/front-threads.ts';
import { needing } from '../support/needing.ts';
import { RecordedDisk } from '../support/power-loss.ts';
import { seededRandom } from '../support/random.ts';
import { recorded } from '../support/recorded-disk.ts';
import { openShop, type Shop } from '../support/shop.ts';

const { test } = needing('g++');

/** The environment variables `IMAGES=500 SEED=7` set the number of disk images and their seed. */
const images = Number(process.env['IMAGES'] ?? 40);
const seed = Number(process.env['SEED'] ?? 1);
const imagesOfRun = 100;

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

/** Returns the accepted packets that a server counts twice or not at all after a start on a disk image. */
async function findFaults(run: Run, disk: RecordedDisk, event: number, random: () => number): Promise<string[]> {
  const through = disk.goTo(event);
  const data = join(freshDirectory(), 'data');
  disk.losePower(data, random);
  const service = await startBinary({ data, args: ['--existing'] });
  const faults = run.load.faults(await run.load.read(service.http, run.shop), through + 1);
  service.kill('SIGKILL');
  await service.exit;
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
      for (const event of draw(count, disk.events, random)) {
        const faults = await findFaults(run, disk, event, random);
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
  let lost = 0;
  for (const event of draw(8, disk.events, random)) {
    const faults = await findFaults(run, disk, event, random).catch((error) => [(error as Error).message]);
    if (faults.length > 0) lost += 1;
  }
  expect(lost).toBeGreaterThan(0);
});
