import { type FileHandle, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '../runtime/log.ts';
import type { AccountTables } from '../storage/lmdb/accounts.ts';
import { type DataLock, lockDirectory } from '../storage/lmdb/lock.ts';
import type { AuditEntry } from '../storage/lmdb/records.ts';
import { auditKey, showEntry } from './audit-log.ts';

type Source = Pick<AccountTables, 'audit'>;

interface ExportCounts {
  made: number;
  failed: number;
}

/** Number of entries that are read in one step. Other requests are processed between two steps. */
const stride = 200;

/**
 * Copies the audit log to a directory: one file per day (UTC), one line of JSON per entry, as in the API. Progress is
 * read from the files themselves, so neither a crash nor a restored backup skips entries.
 */
export class AuditExport {
  readonly counts: ExportCounts = { made: 0, failed: 0 };
  readonly #directory: string;
  readonly #log: Log;
  readonly #lock: Pick<DataLock, 'release'>;
  /** The last exported entry; `undefined` until it is read from the files. */
  #last: AuditEntry | 'none' | undefined;
  #isFailing = false;

  private constructor(directory: string, lock: Pick<DataLock, 'release'>, log: Log) {
    this.#directory = directory;
    this.#lock = lock;
    this.#log = log;
  }

  /**
   * Creates the directory if missing, and locks it: two services must not write to the same files.
   * @throws {Error} if the directory cannot be used, with its path and the reason
   */
  static open(directory: string, log: Log): AuditExport {
    return new AuditExport(directory, lockDirectory(directory, '--audit-export'), log);
  }

  /**
   * Copies new entries. Logs the first failure, and the first success after it.
   * @returns the number of the last removable entry; -1 if the files cannot be written
   */
  async run(source: Source): Promise<number> {
    try {
      await this.#copyAll(source);
      if (this.#isFailing) this.#log.info('exporting the audit log succeeds again');
      this.#isFailing = false;
      this.counts.made += 1;
      return this.#number;
    } catch (error) {
      this.#last = undefined; // Read the files again, because some lines might be in them.
      this.#tellFailure(error as Error);
      return -1;
    }
  }

  close(): void {
    this.#lock.release();
  }

  #tellFailure({ message }: Error): void {
    this.counts.failed += 1;
    if (this.#isFailing) return;
    this.#isFailing = true;
    const next = 'no entries are removed; retrying every minute';
    this.#log.warn('exporting the audit log failed', { directory: this.#directory, reason: message, next });
  }

  async #copyAll(source: Source): Promise<void> {
    this.#last = this.#isStill(source) ? this.#last : await this.#find(source);
    for (let more = true; more; ) more = await this.#copy(source);
  }

  get #number(): number {
    return this.#last === undefined || this.#last === 'none' ? -1 : this.#last.number;
  }

  /** True if the log continues after the last exported entry; false if an older state of the store was restored. */
  #isStill({ audit }: Source): boolean {
    if (this.#last === undefined) return false;
    if (this.#last === 'none') return true;
    const { number } = this.#last;
    const same = audit.get(auditKey(number));
    if (same !== undefined) return formatLine(same) === formatLine(this.#last);
    const [newest] = audit.getRange({ reverse: true, limit: 1 });
    return newest === undefined || newest.value.number > number; // The exported entry has expired.
  }

  /** Finds the latest entry of the log that is in a file. */
  async #find({ audit }: Source): Promise<AuditEntry | 'none'> {
    const files = new Map<string, ReadonlySet<string>>();
    for (let end: string | undefined; ; ) {
      const start = end === undefined ? {} : { start: end, exclusiveStart: true };
      const found = [...audit.getRange({ ...start, reverse: true, limit: stride })];
      for (const { value } of found) {
        const path = auditFile(this.#directory, value.at);
        const lines = files.get(path) ?? (await readLines(path));
        files.set(path, lines);
        if (lines.has(formatLine(value))) return value;
      }
      if (found.length < stride) return 'none';
      end = found.at(-1)!.key;
    }
  }

  /** @returns true if the log can have more entries */
  async #copy({ audit }: Source): Promise<boolean> {
    const range = { start: auditKey(this.#number + 1), limit: stride };
    const entries = Array.from(audit.getRange(range), ({ value }) => value);
    if (entries.length === 0) return false;
    for (const { path, lines } of this.#groupRuns(entries)) {
      await appendLines(path, lines);
      await syncDirectory(this.#directory);
    }
    this.#last = entries.at(-1);
    return entries.length === stride;
  }

  /** Groups consecutive entries by file. Written in this order, a file has every entry that precedes its last entry. */
  #groupRuns(entries: readonly AuditEntry[]): readonly Run[] {
    const runs: Run[] = [];
    for (const entry of entries) {
      const path = auditFile(this.#directory, entry.at);
      const run = runs.at(-1);
      if (run?.path === path) run.lines.push(formatLine(entry));
      else runs.push({ path, lines: [formatLine(entry)] });
    }
    return runs;
  }
}

interface Run {
  readonly path: string;
  readonly lines: string[];
}

function formatLine(entry: AuditEntry): string {
  return JSON.stringify(showEntry(entry));
}

/** Returns the path of the file for a UTC day. */
function auditFile(directory: string, at: number): string {
  return join(directory, `audit-${new Date(at).toISOString().slice(0, 10)}.ndjson`);
}

/** Returns the complete lines of a file, or an empty set if the file does not exist. */
async function readLines(path: string): Promise<ReadonlySet<string>> {
  try {
    const text = await readFile(path, 'utf8');
    return new Set(text.split('\n').slice(0, -1));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new Set();
    throw error;
  }
}

/**
 * Appends lines to a file, which is created if missing; resolves when they are on disk. Removes an incomplete last
 * line, left by a crash or a full disk.
 */
async function appendLines(path: string, lines: readonly string[]): Promise<void> {
  const file = await open(path, 'a+', 0o600);
  try {
    await file.truncate(await wholeLength(file));
    await file.appendFile(lines.map((line) => `${line}\n`).join(''));
    await file.sync();
  } finally {
    await file.close();
  }
}

async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

const blockBytes = 4096;
const lineFeed = 0x0a;

/** Returns the length of a file up to the end of its last complete line. */
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
