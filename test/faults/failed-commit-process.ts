/**
 * Makes commits to a store whose disk fails: `bun failed-commit-process.ts DATA`. Prints `ready`, waits for a line, and
 * prints the results of two commits and of a read after the failure.
 */
import { once } from 'node:events';
import { writeSync } from 'node:fs';
import { openLmdb, openTable, transact } from '../../src/storage/lmdb/lmdb.ts';

const [data = ''] = process.argv.slice(2);
const lmdb = openLmdb(data);
const table = openTable(lmdb, 'table');
const key = Buffer.from('key');

function tried(action: () => unknown): unknown {
  try {
    return action() ?? 'done';
  } catch (error) {
    return (error as Error).message;
  }
}

transact(lmdb, () => void table.putSync(key, key));
const snapshot = lmdb.useReadTransaction();
lmdb.resetReadTxn();
writeSync(1, 'ready\n');
await once(process.stdin, 'data');
const commit = () => {
  transact(lmdb, () => {
    table.get(key);
    table.putSync(key, Buffer.from('new'));
  });
};
const first = tried(commit);
snapshot.done(); // From here on, no read transaction is open.
console.log(JSON.stringify([first, tried(commit), tried(() => table.get(key))]));
process.exit();
