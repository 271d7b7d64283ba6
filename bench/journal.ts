import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { prepareSpare } from '../src/storage/journal/directory.ts';
import { type JournalFiles, journalDirectory } from '../src/storage/journal/files.ts';
import { JournalReader } from '../src/storage/journal/reader.ts';
import type { Journal } from '../src/storage/journal/segment.ts';
import { JournalWriter } from '../src/storage/journal/writer.ts';
import { type Benchmark, readOptions, show } from './benchmark.ts';
import { median, round } from './numbers.ts';

const mebibyte = 1 << 20;

/** Measures the journal alone, in this process and on the disk of `TMPDIR`. */
export const journal: Benchmark = {
  summary: 'appends to the journal with their flush, and a replay of one segment, on the disk of TMPDIR',
  usage: '[--json] [--appends 3000] [--segment 64] [--small]',
  async run(args) {
    const options = readOptions(args, { appends: 3_000, segment: 64 }, { appends: 20, segment: 4 });
    const directory = mkdtempSync(join(tmpdir(), 'flagmeter-journal-'));
    try {
      const files = journalDirectory(directory);
      const place = { files, id: Buffer.alloc(16, 1), segmentSize: options.segment * mebibyte };
      const small = measureAppends(place, 200, options.appends);
      const large = measureAppends(place, 100_000, Math.ceil(options.appends / 10));
      const { frames, ...replay } = measureReplay(place);
      const result = {
        smallUs: small.us,
        smallPerSecond: small.perSecond,
        largeUs: large.us,
        largePerSecond: large.perSecond,
        replayMs: replay.full,
        lastFrameMs: replay.last,
        checksumMbPerSecond: measureChecksum(),
      };
      show(options.json, result, [
        ['append', 'p50', 'per second'],
        ['200 B', `${small.us} µs`, String(small.perSecond)],
        ['100 kB', `${large.us} µs`, String(large.perSecond)],
        [`Replay of ${options.segment} MiB, ${frames} frames: ${result.replayMs} ms`],
        [`Replay that finds one frame in a recycled segment: ${result.lastFrameMs} ms`],
        [`Checksum: ${result.checksumMbPerSecond} MB/s`],
      ]);
    } finally {
      rmSync(directory, { recursive: true });
    }
  },
};

function measureAppends(place: Journal, size: number, count: number) {
  const parts = [Buffer.alloc(size, 1)];
  const writer = begin(place);
  const times = Array.from({ length: count }, () =>
    timed(() => {
      if (place.segmentSize - writer.position.offset < 2 * size) for (const _ of prepareSpare(place));
      writer.append(parts);
    }),
  );
  writer.close();
  const total = times.reduce((sum, time) => sum + time, 0);
  return { us: round(median(times) * 1_000), perSecond: round((count / total) * 1_000) };
}

/**
 * Measures how fast a journal is read: a segment full of frames of 200 bytes, and a recycled segment with one frame.
 */
function measureReplay(place: Journal) {
  const parts = [Buffer.alloc(200, 1)];
  const writer = begin({ ...place, files: withoutSync(place.files) });
  const { sequence: first } = writer.position;
  while (place.segmentSize - writer.position.offset > 300) writer.append(parts);
  const last = writer.position.sequence;
  writer.close();
  const full = median([1, 2, 3, 4, 5].map(() => timed(() => read(place, first))));
  const next = begin(place);
  next.append(parts);
  next.close();
  const one = median([1, 2, 3, 4, 5].map(() => timed(() => read(place, last))));
  return { full: round(full), last: round(one), frames: last - first };
}

function begin(place: Journal): JournalWriter {
  for (const _ of prepareSpare(place));
  const end = new JournalReader(place, 0);
  for (const _ of end.frames());
  const last = end.position?.sequence ?? 0;
  end.close();
  return new JournalWriter(place, last);
}

function read(place: Journal, after: number): void {
  const reader = new JournalReader(place, after);
  for (const _ of reader.frames());
  reader.close();
}

function withoutSync(files: JournalFiles): JournalFiles {
  return {
    ...files,
    open: (name, mode) => ({ ...files.open(name, mode), sync: () => undefined, checkPlace: () => undefined }),
  };
}

function measureChecksum(): number {
  const bytes = Buffer.alloc(64 * mebibyte, 1);
  const time = median([1, 2, 3, 4, 5].map((start) => timed(() => crc32(bytes, start))));
  return round(bytes.length / 1_000 / time);
}

/** Runs an action, and returns its duration in ms. */
function timed(act: () => void): number {
  const begin = performance.now();
  act();
  return performance.now() - begin;
}
