import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Destination } from './destination.ts';
import { removeGently } from './remove-gently.ts';
import { writeFileWhole } from './write-file.ts';

/** Names of files left by killed backups. */
const leftOver = /^flagmeter-[\dTZ-]+\.backup\.\d+\.tmp$/;

/** Keeps backups in a directory, which is created if it is missing. */
export function folderDestination(folder: string): Destination {
  return {
    async names() {
      return filesIn(folder);
    },
    async put(name, write) {
      for (const left of filesIn(folder).filter((each) => leftOver.test(each))) rmSync(join(folder, left));
      return writeFileWhole(join(folder, name), write);
    },
    remove: (name, pace) => removeGently(join(folder, name), pace),
  };
}

function filesIn(folder: string): string[] {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const entries = readdirSync(folder, { withFileTypes: true });
  return entries.filter((entry) => !entry.isDirectory()).map(({ name }) => name);
}
