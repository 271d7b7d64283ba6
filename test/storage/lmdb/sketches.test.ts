import { expect, it, test } from 'vitest';
import { seriesRef } from '../../../src/storage/lmdb/blocks.ts';
import {
  chunkKeyBytes,
  chunkKeyFrom,
  chunkValueBytes,
  environmentOrdinal,
  maxCoupons,
  readChunk,
  registersPerChunk,
  sketchChunks,
  writeChunk,
  writeChunkKey,
} from '../../../src/storage/lmdb/sketches.ts';
import { openUsageTables } from '../../../src/storage/lmdb/usage.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

/** Existing stores depend on this layout. */
it('the sizes in the stored format of sketches do not change', () => {
  expect({ chunkKeyBytes, chunkValueBytes, maxCoupons, environmentOrdinal }).toEqual({
    chunkKeyBytes: 13,
    chunkValueBytes: 769,
    maxCoupons: 192,
    environmentOrdinal: 1_048_575,
  });
});

it('the key of a chunk contains the environment, the day, the ordinal and the number of the chunk', () => {
  const key = Buffer.alloc(chunkKeyBytes);
  writeChunkKey(key, seriesRef(7, 258), 20_000, 31);
  expect(key.toString('hex')).toBe('00000007' + '00004e20' + '00000102' + '1f');
  writeChunkKey(key, seriesRef(2 ** 32 - 1, environmentOrdinal), 20_000, 0);
  expect(key.toString('hex')).toBe('ffffffff' + '00004e20' + '000fffff' + '00');
  expect(chunkKeyFrom(7, 20_000, 258).toString('hex')).toBe('00000007' + '00004e20' + '00000102' + '00');
});

it('a chunk of coupons is stored in the documented format', () => {
  const value = Buffer.alloc(chunkValueBytes, 0xee);
  const length = writeChunk(value, { coupons: Uint32Array.of(0x01020304, 0xfffffff1) });
  expect(value.subarray(0, length).toString('hex')).toBe('00' + '04030201' + 'f1ffffff');
});

it('a chunk of registers is stored in the documented format', () => {
  const value = Buffer.alloc(chunkValueBytes, 0xee);
  const registers = new Uint8Array(registersPerChunk);
  registers.set([1, 2, 3, 4, 50, 0, 63, 33]);
  expect(writeChunk(value, { registers })).toBe(769);
  expect(value.subarray(0, 7).toString('hex')).toBe('01' + '813010' + '32f087');
  expect(value.subarray(7).every((byte) => byte === 0)).toBe(true);
  expect(readChunk(value)).toEqual({ registers });
});

test("a scan returns the chunks of one environment's day in order, even after reopening", async () => {
  const data = temporaryDirectory();
  let store = openUsageTables(data);
  const put = (environment: number, day: number, ordinal: number, chunk: number) => {
    const key = Buffer.alloc(chunkKeyBytes);
    const value = Buffer.alloc(chunkValueBytes);
    writeChunkKey(key, seriesRef(environment, ordinal), day, chunk);
    store.sketches.putSync(key, value.subarray(0, writeChunk(value, { coupons: Uint32Array.of(ordinal) })));
  };
  store.lmdb.transactionSync(() => {
    put(1, 11, 300, 4);
    put(1, 11, 2, 31);
    put(1, 11, 2, 0);
    put(1, 11, environmentOrdinal, 9);
    put(1, 10, 2, 1);
    put(1, 12, 2, 1);
    put(0, 11, 2, 1);
    put(2, 11, 2, 1);
  });
  await store.lmdb.close();
  store = openUsageTables(data);
  const scan = (from: number, to: number) =>
    [...sketchChunks(store, 1, 11, from, to)].map(({ ordinal, chunk, content }) => [
      ordinal,
      chunk,
      ...content.coupons!,
    ]);
  expect(scan(0, environmentOrdinal)).toEqual([
    [2, 0, 2],
    [2, 31, 2],
    [300, 4, 300],
  ]);
  expect(scan(environmentOrdinal, environmentOrdinal + 1)).toEqual([[environmentOrdinal, 9, environmentOrdinal]]);
  expect(scan(3, 300)).toEqual([]);
  await store.lmdb.close();
});
