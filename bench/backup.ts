import { execFile } from 'node:child_process';
import { closeSync, fsyncSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type BenchPacket, createPackets } from '../src/bench/load/packets.ts';
import type { LoadReport } from '../src/bench/load/plan.ts';
import { systemClock } from '../src/runtime/clock.ts';
import { removeGently } from '../src/storage/backup/destination.ts';
import { Pace } from '../src/storage/backup/pace.ts';
import { cleanUp, freshDirectory, startBinary, stop } from '../test/support/binary.ts';
import { type Benchmark, note, readOptions, show } from './benchmark.ts';
import { median, round } from './numbers.ts';
import { thousandSeries } from './packets.ts';
import { fillHistory, findNumbers } from './report-store.ts';
import { type Service, sendPackets, startService } from './service.ts';

/** Measures the speed of a backup, and its effect on packets. */
export const backup: Benchmark = {
  summary: 'backup speed of a data directory, and latency of packets alone and during backups',
  usage:
    '[--json] [--flags 2000] [--days 90] [--connections 64] [--rate 5000] [--seconds 10] [--rounds 3] [--small] [--binary dist/flagmeter]',
  async run(args) {
    const defaults = { flags: 2000, days: 90, connections: 64, rate: 5000, seconds: 10, rounds: 3 };
    const small = { flags: 50, days: 3, connections: 4, rate: 200, seconds: 0.2, rounds: 1 };
    const options = readOptions(args, defaults, small);
    try {
      const service = await filledService(options);
      const packets = createPackets(thousandSeries, service.key);
      const idle: CopyResult[] = [];
      const disk: CopyResult[] = [];
      for (let roundNumber = 1; roundNumber <= options.rounds; roundNumber += 1) {
        idle.push(await backUp(options.binary, service.data));
        disk.push(writeToDisk(idle[0]!.bytes));
      }
      await send(service, packets, options);
      const rounds: Round[] = [];
      for (let roundNumber = 1; roundNumber <= options.rounds; roundNumber += 1)
        rounds.push(await measureRound(service, packets, options, roundNumber));
      print(options, { idle, disk, rounds });
    } finally {
      cleanUp();
    }
  },
};

type Options = Readonly<Record<'flags' | 'days' | 'connections' | 'rate' | 'seconds' | 'rounds', number>> & {
  readonly binary: string;
  readonly json: boolean;
};

interface CopyResult {
  readonly bytes: number;
  readonly ms: number;
}

interface Round {
  readonly alone: LoadReport;
  readonly beside: LoadReport;
  readonly copies: readonly CopyResult[];
  /** Growth of the usage store during the run without backups, and during the run with backups. */
  readonly grownAlone: number;
  readonly grownBeside: number;
}

/** Starts a service whose store already contains the counts of many days. */
async function filledService({ binary, flags, days }: Options): Promise<Service> {
  const service = await startService(binary);
  await stop(service);
  const { application, environments } = await findNumbers(service.data, service.applicationId);
  const history = { application, environment: environments[1]!, flags, days, hoursADay: 24, minuteHours: 1 };
  await fillHistory(service.data, [history], Date.now());
  const again = await startBinary({ data: service.data, binary, args: ['--rate', '0', '--api-rate', '0'] });
  return { ...service, ...again };
}

const steady = new Pace({ clock: systemClock, over: new AbortController().signal });

/** Makes a backup with the executable, as an operator does, and then removes the file. */
async function backUp(binary: string, data: string): Promise<CopyResult> {
  const file = join(freshDirectory(), 'backup');
  const began = performance.now();
  await promisify(execFile)(binary, ['backup', '--data', data, '--to', file]);
  const copied = { bytes: statSync(file).size, ms: performance.now() - began };
  await removeGently(file, steady);
  return copied;
}

/** Measures the write speed of the disk by writing and syncing a file of a given size, as dd does. */
function writeToDisk(bytes: number): CopyResult {
  const file = join(freshDirectory(), 'file');
  const block = Buffer.alloc(2 ** 20, 1);
  const began = performance.now();
  const descriptor = openSync(file, 'wx');
  for (let at = 0; at < bytes; at += block.length) writeSync(descriptor, block);
  fsyncSync(descriptor);
  const written = { bytes, ms: performance.now() - began };
  closeSync(descriptor);
  rmSync(file);
  return written;
}

/**
 * Measures a round. Every other round starts with the run during backups, so that both runs are affected equally by the
 * previous run.
 */
async function measureRound(
  service: Service,
  packets: readonly BenchPacket[],
  options: Options,
  roundNumber: number,
): Promise<Round> {
  const before = roundNumber % 2 === 0 ? undefined : await grown(service, () => send(service, packets, options));
  let isOver = false;
  const copies: CopyResult[] = [];
  const copying = (async () => {
    while (!isOver) copies.push(await backUp(options.binary, service.data));
  })();
  const beside = await grown(service, () => send(service, packets, options));
  isOver = true;
  await copying;
  const alone = before ?? (await grown(service, () => send(service, packets, options)));
  note(
    `round ${roundNumber}: p99 alone ${round(alone.result.p99, 2)} ms, during ${copies.length} backups ${round(beside.result.p99, 2)} ms`,
  );
  return { alone: alone.result, beside: beside.result, copies, grownAlone: alone.bytes, grownBeside: beside.bytes };
}

async function grown<T>({ data }: Service, run: () => Promise<T>): Promise<{ result: T; bytes: number }> {
  const file = join(data, 'usage/data.mdb');
  const { size } = statSync(file);
  const result = await run();
  return { result, bytes: statSync(file).size - size };
}

function send(
  service: Service,
  packets: readonly BenchPacket[],
  { connections, rate, seconds }: Options,
): Promise<LoadReport> {
  const warmupSeconds = Math.min(1, seconds / 5);
  return sendPackets(service.http, packets, { connections, rate, seconds, warmupSeconds });
}

interface BackupMeasurements {
  readonly idle: readonly CopyResult[];
  readonly disk: readonly CopyResult[];
  readonly rounds: readonly Round[];
}

function print({ json, rate, seconds }: Options, { idle, disk, rounds }: BackupMeasurements): void {
  const middle = (of: (each: Round) => number) => round(median(rounds.map(of)), 2);
  const computeRate = ({ bytes, ms }: CopyResult) => bytes / 1e6 / (ms / 1000);
  const copies = rounds.flatMap((each) => each.copies);
  const result = {
    storeMb: round(idle[0]!.bytes / 1e6, 1),
    diskMbPerSecond: round(median(disk.map(computeRate)), 1),
    idleMbPerSecond: round(median(idle.map(computeRate)), 1),
    besideMbPerSecond: round(median(copies.map(computeRate)), 1),
    backups: copies.length,
    aloneP50Ms: middle(({ alone }) => alone.p50),
    aloneP99Ms: middle(({ alone }) => alone.p99),
    p50Ms: middle(({ beside }) => beside.p50),
    p99Ms: middle(({ beside }) => beside.p99),
    ratio: middle(({ alone, beside }) => beside.p99 / alone.p99),
    grownAloneMb: round(Math.max(...rounds.map((each) => each.grownAlone)) / 1e6, 1),
    grownMb: round(Math.max(...rounds.map((each) => each.grownBeside)) / 1e6, 1),
  };
  show(json, result, [
    [`${rate} packets/s`, 'p50 ms', 'p99 ms', 'grown MB'],
    ['alone', `${result.aloneP50Ms}`, `${result.aloneP99Ms}`, `${result.grownAloneMb}`],
    ['during backups', `${result.p50Ms}`, `${result.p99Ms}`, `${result.grownMb}`],
    [],
    [
      `a backup of ${result.storeMb} MB: ${result.idleMbPerSecond} MB/s from an idle service, ${result.besideMbPerSecond} MB/s during packets; a plain file is written and synced at ${result.diskMbPerSecond} MB/s; p99 during backups is ${result.ratio} of p99 alone; ${rounds.length} × ${seconds} s each`,
    ],
  ]);
}
