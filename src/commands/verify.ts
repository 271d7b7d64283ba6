import { closeSync, existsSync, fstatSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { checkCarried } from '../aggregate/check-carried.ts';
import { systemClock } from '../clock.ts';
import { readFlags } from '../flags.ts';
import { checkPages } from '../store/check-pages.ts';
import { checkPresence, dataFilesIn, remedy } from '../store/data-file.ts';
import { openIfCurrent, usageLayout } from '../store/layout.ts';
import { openTable } from '../store/lmdb.ts';
import { lockDataDirectory } from '../store/lock.ts';
import { fromSnapshot } from '../store/snapshot.ts';
import type { Terminal } from '../terminal.ts';
import { verifyCommand } from './server-commands.ts';
import { configOf } from './server-flags.ts';

const tellEveryMs = 2000;

/**
 * Checks all files of a data directory for damage. No service may use them at the same time.
 * @returns exit code: 0 when they are in order, 1 when one is damaged
 * @throws {UsageError} for wrong flags
 * @throws {Error} when the directory is not prepared, or is in use
 */
export function verify(argv: readonly string[], terminal: Terminal): number {
  const flags = readFlags(argv, verifyCommand.flags);
  const { data } = configOf(flags, terminal);
  const files = dataFilesIn(data);
  if (files.length === 0)
    throw new Error(`Cannot verify ${data}: it is not a prepared data directory; name one with --data`);
  const lock = lockDataDirectory(data);
  try {
    checkPresence(data);
    const damaged = files.filter((file) => !isInOrder(file, terminal));
    if (damaged.length === 0 && countsAddUp(data, terminal)) return 0;
    terminal.err(`Do not start a service on ${data}: ${remedy}.\n`);
    return 1;
  } finally {
    lock.release();
  }
}

function isInOrder(file: string, { out, err }: Terminal): boolean {
  const descriptor = openSync(file, 'r');
  try {
    let seen = 0;
    let toldAt = systemClock.monotonic();
    const looking = checkPages(descriptor);
    let step = looking.next();
    for (; !step.done; step = looking.next()) {
      seen += 1;
      if (systemClock.monotonic() - toldAt < tellEveryMs) continue;
      toldAt = systemClock.monotonic();
      err(`${file}: ${seen} pages checked, of ${fstatSync(descriptor).size} bytes\n`);
    }
    out(`${file}: ${step.value ?? `in order, ${seen} pages in use`}\n`);
    return step.value === undefined;
  } finally {
    closeSync(descriptor);
  }
}

/** Counts of each minute are also in those of its hour, and these in those of its day. A store of an earlier layout has none of that. */
function countsAddUp(data: string, { out }: Terminal): boolean {
  const file = join(data, 'usage/data.mdb');
  const lmdb = existsSync(file) ? openIfCurrent(data, usageLayout) : undefined;
  if (lmdb === undefined) return true;
  const [counts, carried, series] = [
    openTable(lmdb, 'counts'),
    openTable(lmdb, 'carried'),
    openTable(lmdb, 'series'),
  ];
  const checking = fromSnapshot(lmdb, (at) => checkCarried({ counts, carried, series }, at));
  let step = checking.next();
  while (!step.done) step = checking.next();
  void lmdb.close();
  if (step.value === undefined) return true;
  out(`${file}: ${step.value}\n`);
  return false;
}
