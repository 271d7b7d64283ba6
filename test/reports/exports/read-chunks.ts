import { type ExportRequest, makeExport } from '../../../src/reports/exports/make-export.ts';
import { type Chunk, type Chunks, chunkMemory, placeOfChunk } from '../../../src/reports/exports/rows.ts';
import type { UsageTables } from '../../../src/storage/lmdb/usage.ts';
import { finish } from '../../support/finish.ts';

/** Reads the chunks of an export. Copies each chunk before the next one overwrites it. */
export function readExport(
  store: UsageTables,
  request: Omit<ExportRequest, 'memory'>,
): Generator<Uint8Array, void, undefined> {
  const memory = chunkMemory();
  return readChunks(makeExport(store, { ...request, memory }), memory);
}

/** Reads chunks from `memory`. Copies each chunk before the next one overwrites it. */
export function* readChunks(chunks: Chunks, memory: SharedArrayBuffer): Generator<Uint8Array, void, undefined> {
  let chunk: Chunk;
  let number = 0;
  do {
    chunk = finish(chunks.next());
    yield placeOfChunk(memory, number).slice(0, chunk.length);
    number += 1;
  } while (!chunk.isLast);
}
