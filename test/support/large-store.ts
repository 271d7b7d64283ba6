import { openUsageTables } from '../../src/storage/lmdb/usage.ts';

const rowBytes = 1500;

/** Adds many rows to a prepared data directory, so that work on it is slow. They belong to a deleted environment. */
export async function enlarge(data: string, bytes: number): Promise<void> {
  const { lmdb, series } = openUsageTables(data);
  const name = Buffer.from(JSON.stringify(['x'.repeat(rowBytes)]));
  lmdb.transactionSync(() => {
    for (let row = 0; row < bytes / rowBytes; row += 1) {
      const key = Buffer.alloc(8, 0xee);
      key.writeUInt32BE(row, 4);
      series.putSync(key, name);
    }
  });
  await lmdb.close();
}

/** Removes the rows that `enlarge` added. The pages of these rows stay in the file as free pages. */
export async function empty(data: string): Promise<void> {
  const { lmdb, series } = openUsageTables(data);
  const start = Buffer.alloc(4, 0xee);
  lmdb.transactionSync(() => {
    for (const key of [...series.getKeys({ start })]) series.removeSync(Buffer.from(key));
  });
  await lmdb.close();
}
