import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type Block,
  BlockEncoder,
  blockKey,
  bucketWidth,
  type Counts,
  cellsPerBlock,
  computeBlock,
  countsCodec,
  decodeBlock,
  encodeBucket,
  measurementCodec,
  seriesRef,
} from '../../../src/storage/lmdb/blocks.ts';

const counts = fc.record({ checks: fc.nat(), used: fc.nat(), viewed: fc.nat() });
const block = fc.array(fc.option(counts, { nil: undefined }), { minLength: cellsPerBlock, maxLength: cellsPerBlock });

test('a block is read back unchanged', () => {
  const encoder = new BlockEncoder(countsCodec);
  fc.assert(
    fc.property(block, (cells: Block<Counts>) => {
      expect(decodeBlock(encoder.encode(cells), countsCodec)).toEqual(cells);
    }),
  );
});

test('the series of a block are adjacent and belong to one environment', () => {
  const ordinal = fc.integer({ min: 0, max: 2 ** 20 - 1 });
  const environment = fc.integer({ min: 0, max: 2 ** 32 - 1 });
  fc.assert(
    fc.property(environment, ordinal, (number, each) => {
      const key = blockKey(computeBlock(seriesRef(number, each)), encodeBucket(bucketWidth.minute, 1));
      expect(key.readUInt32BE(0)).toBe(number);
      expect(key.readUInt32BE(9)).toBe(Math.floor(each / cellsPerBlock));
    }),
  );
});

test('the stored format of blocks does not change', () => {
  const key = blockKey(computeBlock(seriesRef(258, 70)), encodeBucket(bucketWidth.hour, 29_535_840));
  expect(key.toString('hex')).toBe('00000102' + '01' + '01c2ae60' + '00000002');
  const cells: Block<Counts> = new Array(cellsPerBlock).fill(undefined);
  cells[6] = { checks: 3, used: 2, viewed: 1 };
  const value = new BlockEncoder(countsCodec).encode(cells);
  expect(value.toString('hex')).toBe('40000000' + '0000000000000840' + '0000000000000040' + '000000000000f03f');
  const measurement = Buffer.alloc(measurementCodec.bytes);
  measurementCodec.write(measurement, 0, { sum: 1, count: 2, last: 3, lastAt: 4, min: 5, max: 6 });
  expect([0, 1, 2, 3, 4, 5].map((at) => measurement.readDoubleLE(at * 8))).toEqual([1, 2, 3, 4, 5, 6]);
});
