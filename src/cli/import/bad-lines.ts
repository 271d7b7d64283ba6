import { closeSync, openSync, writeSync } from 'node:fs';
import type { Context } from '../context.ts';
import { Failure } from '../failure.ts';
import { printable } from '../show.ts';
import type { BadLine } from './source.ts';

/** Maximum number of bad lines that are listed. */
const maxListed = 100;

/** Lists bad lines on standard error, and writes them to a file if one is named. */
export class BadLines {
  readonly #context: Context;
  readonly #file: number | undefined;
  /** The first ones, for scripts. */
  readonly listed: Pick<BadLine, 'path' | 'line' | 'reason'>[] = [];
  count = 0;

  /** @param path of the file to be written @throws {Failure} if it exists, or cannot be written */
  constructor(context: Context, path: string | undefined) {
    this.#context = context;
    this.#file = path === undefined ? undefined : create(path);
  }

  /** @param header the first line of the source, if its format has one */
  add({ path, line, reason, text }: BadLine, header: string | undefined): void {
    this.count += 1;
    if (this.count <= maxListed) {
      this.listed.push({ path, line, reason });
      this.#context.err(`${printable(path)}:${line}: ${reason}\n`);
    }
    if (this.#file === undefined || text === undefined) return;
    if (this.count === 1 && header !== undefined) writeSync(this.#file, `${header}\n`);
    writeSync(this.#file, `${text}\n`);
  }

  /** Reports how many are not listed. */
  end(): void {
    if (this.count > maxListed) this.#context.err(`and ${this.count - maxListed} more bad lines\n`);
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
  }
}

function create(path: string): number {
  try {
    return openSync(path, 'wx', 0o600);
  } catch (error) {
    throw new Failure('failed', `Cannot write ${path}: ${(error as Error).message}`);
  }
}
