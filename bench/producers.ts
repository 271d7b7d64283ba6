import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { JournalThread } from '../src/storage/commit/journal-thread.ts';
import { prepareSpare } from '../src/storage/journal/directory.ts';
import { type JournalPlace, openJournal } from '../src/storage/journal/place.ts';
import { workerFile } from '../test/support/committers.ts';
import { type Benchmark, readOptions, show } from './benchmark.ts';
import { round } from './numbers.ts';
import type { ProducerStart } from './producer-thread.ts';

/** Measures several threads that commit to one journal, or to separate journals, on the disk of `TMPDIR`. */
export const producers: Benchmark = {
  summary: 'commits of several threads to one journal, or to separate journals, on the disk of TMPDIR',
  usage: '[--json] [--threads 1,2,4] [--rate 15000] [--seconds 2] [--small]',
  async run(args) {
    const options = readOptions(args, { rate: 15_000, seconds: 2 }, { seconds: 0.2 }, { threads: [1, 2, 4] });
    const results = [];
    for (const threads of options.threads) {
      const shared = await measure(1, threads, options);
      const separate = threads === 1 ? shared : await measure(threads, 1, options);
      results.push({ threads, shared, separate });
    }
    const row = (threads: number, journals: string, figures: Figures) => [
      ...[String(threads), journals],
      ...Object.values(figures).map(String),
    ];
    show(options.json, { results }, [
      ['threads', 'journals', 'packets/s', 'commits/s', 'flushes/s', 'ms per commit', 'µs CPU/packet'],
      ...results.flatMap(({ threads, shared, separate }) => [
        row(threads, 'one', shared),
        ...(threads === 1 ? [] : [row(threads, 'one each', separate)]),
      ]),
    ]);
  },
};

interface Figures {
  readonly packets: number;
  readonly commits: number;
  readonly flushes: number;
  readonly ms: number;
  readonly cpuUs: number;
}

/** Measures journals to which several threads commit. Figures are per second, for all threads together. */
async function measure(
  journals: number,
  threadsOfEach: number,
  { rate, seconds }: { readonly rate: number; readonly seconds: number },
): Promise<Figures> {
  const directory = mkdtempSync(join(tmpdir(), 'flagmeter-producers-'));
  const stop = new Int32Array(new SharedArrayBuffer(4));
  const done = new Int32Array(new SharedArrayBuffer(8));
  const opened = Array.from({ length: journals }, (_, at) => open(join(directory, `${at}`), threadsOfEach));
  const workers = opened.flatMap((journal) =>
    journal.producers.map((memory) => {
      const workerData: ProducerStart = { memory, rate, done, stop };
      return new Worker(new URL('./producer-thread.ts', import.meta.url), { workerData });
    }),
  );
  const ended = workers.map((worker) => once(worker, 'exit'));
  while (Atomics.load(done, 0) < 20 * workers.length) await pause(10);
  const read = () => ({
    commits: Atomics.load(done, 0),
    packets: Atomics.load(done, 1),
    flushes: opened.reduce((sum, { state }) => sum + state.tail.sequence, 0),
    at: performance.now(),
  });
  const before = read();
  const cpu = process.cpuUsage();
  await pause(seconds * 1000);
  const after = read();
  const { user, system } = process.cpuUsage(cpu);
  Atomics.store(stop, 0, 1);
  await Promise.all(ended);
  await Promise.all(opened.map((journal) => journal.close()));
  rmSync(directory, { recursive: true });
  const elapsed = (after.at - before.at) / 1000;
  const perSecond = (name: 'packets' | 'commits' | 'flushes') => Math.round((after[name] - before[name]) / elapsed);
  return {
    packets: perSecond('packets'),
    commits: perSecond('commits'),
    flushes: perSecond('flushes'),
    ms: round((1000 * elapsed * workers.length) / (after.commits - before.commits), 2),
    cpuUs: round((user + system) / (after.packets - before.packets), 1),
  };
}

function open(directory: string, threads: number): JournalThread {
  const place: JournalPlace = { directory, id: Buffer.alloc(16, 1), segmentSize: 32 * 2 ** 20 };
  for (const _ of prepareSpare(openJournal(place)));
  const journal = new JournalThread(workerFile('storage/commit/journal-worker'), place, threads);
  journal.begin(0);
  return journal;
}
