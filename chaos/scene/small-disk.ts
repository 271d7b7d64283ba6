import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand } from '../run-command.ts';

/** What a directory has of room beside what is in it, as long as nothing else takes it. */
const room = 64 * 2 ** 20;

/** A disk of its own for a directory, which can become full. What uses the directory must not run while it is put in or taken out. */
export class SmallDisk {
  readonly #directory: string;
  readonly #filling: string;

  private constructor(directory: string) {
    this.#directory = directory;
    this.#filling = join(directory, 'filling');
  }

  /** Puts it in: what the directory holds is on it from now on. */
  static async putIn(directory: string): Promise<SmallDisk> {
    const kept = `${directory}.kept`;
    const used = Number((await runCommand('du', ['-s', '-B1', directory])).split('\t')[0]);
    await runCommand('mv', [directory, kept]);
    await runCommand('mkdir', [directory]);
    await runCommand('mount', ['-t', 'tmpfs', '-o', `size=${used + room}`, 'none', directory]);
    await copy(kept, directory);
    await runCommand('rm', ['-r', kept]);
    return new SmallDisk(directory);
  }

  /** Takes all room that is left. @returns how many bytes that were */
  fill(): number {
    const file = openSync(this.#filling, 'a');
    const piece = Buffer.alloc(2 ** 16);
    let bytes = 0;
    try {
      for (;;) bytes += writeSync(file, piece);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    } finally {
      closeSync(file);
    }
    return bytes;
  }

  free(): void {
    rmSync(this.#filling, { force: true });
  }

  /** Takes it out: what is on it is in the directory again. */
  async takeOut(): Promise<void> {
    this.free();
    const kept = `${this.#directory}.kept`;
    await runCommand('mkdir', [kept]);
    await copy(this.#directory, kept);
    await runCommand('umount', [this.#directory]);
    await runCommand('rmdir', [this.#directory]);
    await runCommand('mv', [kept, this.#directory]);
  }
}

/** Owners and modes stay as they are. */
async function copy(from: string, to: string): Promise<void> {
  await runCommand('cp', ['-a', `${from}/.`, to]);
}
