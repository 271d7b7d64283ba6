import { type FileHandle, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The file of a UTC day. */
export function auditFile(directory: string, at: number): string {
  return join(directory, `audit-${new Date(at).toISOString().slice(0, 10)}.ndjson`);
}

/** The complete lines of a file; none if it does not exist. */
export async function linesOf(path: string): Promise<ReadonlySet<string>> {
  try {
    const text = await readFile(path, 'utf8');
    return new Set(text.split('\n').slice(0, -1));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new Set();
    throw error;
  }
}

/**
 * Appends lines to a file, which is created if missing; resolves when they are on disk. An incomplete last line, left by a
 * crash or a full disk, is truncated.
 */
export async function appendLines(path: string, lines: readonly string[]): Promise<void> {
  const file = await open(path, 'a+', 0o600);
  try {
    await file.truncate(await wholeLength(file));
    await file.appendFile(lines.map((line) => `${line}\n`).join(''));
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Makes the names of new files durable. */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

const blockBytes = 4096;
const lineFeed = 0x0a;

/** The length up to the end of the last complete line. */
async function wholeLength(file: FileHandle): Promise<number> {
  const block = Buffer.alloc(blockBytes);
  for (let end = (await file.stat()).size; end > 0; ) {
    const begin = Math.max(0, end - blockBytes);
    const { bytesRead } = await file.read(block, 0, end - begin, begin);
    const at = block.subarray(0, bytesRead).lastIndexOf(lineFeed);
    if (at >= 0) return begin + at + 1;
    end = begin;
  }
  return 0;
}
