import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand } from '../run-command.ts';

/** Free space of the disk in bytes, after the content of the directory was copied to it. */
const room = 64 * 2 ** 20;

/** A separate disk for a directory, which can become full. It is mounted while no program uses the directory. */
export class SmallDisk {
  readonly #directory: string;
  readonly #filling: string;

  private constructor(directory: string) {
    this.#directory = directory;
    this.#filling = join(directory, 'filling');
  }

  /** Mounts the disk in place of the directory, and copies the directory's content to it. */
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

  /** Fills the disk. @returns the number of written bytes */
  fill(): number {
    const file = openSync(this.#filling, 'a');
    const chunk = Buffer.alloc(2 ** 16);
    let bytes = 0;
    try {
      for (;;) bytes += writeSync(file, chunk);
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

  /** Unmounts the disk, and copies its content to the directory. */
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

/** Copies files with their owners and modes. */
async function copy(from: string, to: string): Promise<void> {
  await runCommand('cp', ['-a', `${from}/.`, to]);
}
