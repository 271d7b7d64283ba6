import { readSync } from 'node:fs';
import { version } from '../../../package.json' with { type: 'json' };
import { checkStatePages, newestMeta, PageSet } from '../lmdb/check-pages.ts';
import { cannotOpen } from '../lmdb/data-directory.ts';
import { holdPoint, type PointOfStore } from '../lmdb/one-point.ts';
import type { BackupKey } from './backup-key.ts';
import { requestFold } from './fold-requests.ts';
import {
  BlockChain,
  blockKind,
  coveredBy,
  type Description,
  encodeHead,
  formatNumber,
  magic,
  maxPagesBytes,
  pagesHeadBytes,
} from './format.ts';
import type { Pace } from './pace.ts';

export interface Sink {
  /** Receives the size of the backup before anything is written. @throws {Error} if the disk has less free space */
  expect?(bytes: number): void;
  /** Writes buffers, which must not change until the promise resolves. */
  write(chunks: readonly Buffer[]): Promise<void>;
}

export interface WrittenBackup {
  readonly bytes: number;
  readonly at: string;
}

interface Source {
  readonly point: PointOfStore;
  readonly pages: PageSet;
}

/**
 * Writes a backup of a data directory, even while a service uses it. The backup has all data that was accepted before
 * the call. All pages are checked before the first page is written, so that a backup of a damaged store never replaces
 * a good one.
 * @param key authenticates the backup with a MAC
 * @throws {Error} as `requestFold` does, and if the directory is not prepared, is damaged, or has layouts that differ
 * from the layouts of this program
 */
export async function writeBackup(
  data: string,
  at: Date,
  sink: Sink,
  pace: Pace,
  key?: BackupKey,
): Promise<WrittenBackup> {
  await requestFold(data, pace);
  const point = await holdPoint(data);
  try {
    pace.giveWay(() => point.stores.reduce((sum, { descriptor }) => sum + readTransactionNumber(descriptor), 0));
    const sources: Source[] = [];
    for (const each of point.stores) sources.push({ point: each, pages: await findUsedPages(each, pace) });
    return await write(sources, at, sink, pace, key);
  } finally {
    await point.release();
  }
}

function readTransactionNumber(descriptor: number): number {
  return newestMeta(descriptor)?.transaction ?? 0;
}

/** Finds the pages in use. Other pages are not copied: after deletions, most pages can be free. */
async function findUsedPages({ file, descriptor, meta }: PointOfStore, pace: Pace): Promise<PageSet> {
  const pages = new PageSet(meta.lastPage + 1);
  const fault = await pace.finish(checkStatePages(descriptor, meta, (first, count) => pages.add(first, count)));
  if (fault !== undefined) throw cannotOpen(file, fault);
  return pages;
}

async function write(
  sources: readonly Source[],
  at: Date,
  sink: Sink,
  pace: Pace,
  key: BackupKey | undefined,
): Promise<WrittenBackup> {
  const chain = new BlockChain();
  let bytes = 0;
  const put = async (chunks: readonly Buffer[]) => {
    for (const chunk of chunks) bytes += chunk.length;
    await sink.write(chunks);
  };
  const putBlock = (kind: number, content: readonly Buffer[]) => {
    const length = content.reduce((sum, chunk) => sum + chunk.length, 0);
    const chunks = [encodeHead(kind, length), ...content];
    return put([...chunks, chain.digest(chunks)]);
  };
  const total = sources.reduce((sum, { point, pages }) => sum + (pages.size + 2) * point.meta.pageSize, 0);
  sink.expect?.(total);
  const description = describe(sources, at);
  await put([magic]);
  await putBlock(blockKind.description, [asJson(description)]);
  for (const [store, source] of sources.entries()) {
    for (const { first, content } of readContent(source)) {
      const head = Buffer.alloc(pagesHeadBytes);
      head.writeUInt32LE(store, 0);
      head.writeDoubleLE(first, 4);
      await putBlock(blockKind.pages, [head, content]);
      await pace.rest({ done: bytes, total });
    }
  }
  const pages = description.stores.reduce((sum, each) => sum + each.pages, 0);
  const mac = key?.computeMac(coveredBy({ pages }, chain.last));
  await putBlock(blockKind.end, [asJson({ pages, mac })]);
  return { bytes, at: description.at };
}

function describe(sources: readonly Source[], at: Date): Description {
  const stores = sources.map(({ point: { store, layout, meta }, pages }) => {
    const { pageSize, lastPage } = meta;
    return { store, layout, pageSize, lastPage, pages: pages.size + 2 };
  });
  return { format: formatNumber, program: version, at: at.toISOString(), stores };
}

function* readContent({ point, pages }: Source): Generator<{ readonly first: number; readonly content: Buffer }> {
  const { descriptor, meta, metaPages, file } = point;
  yield { first: 0, content: metaPages };
  const memory = Buffer.alloc(maxPagesBytes);
  for (const { first, count } of pages.runs(Math.floor(maxPagesBytes / meta.pageSize))) {
    const content = memory.subarray(0, count * meta.pageSize);
    if (readSync(descriptor, content, 0, content.length, first * meta.pageSize) < content.length)
      throw cannotOpen(file, `it is truncated at page ${first}`);
    yield { first, content };
  }
}

function asJson(value: object): Buffer {
  return Buffer.from(JSON.stringify(value));
}
