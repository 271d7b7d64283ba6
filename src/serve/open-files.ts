import { statSync } from 'node:fs';
import { settings } from '../contract/config-schema.ts';
import type { Log } from '../runtime/log.ts';
import type { Config } from './config.ts';

/** Settings whose files hold secrets. The key file of an engine is refused when others can read it. */
const secretFiles = ['postgresFile', 'tlsKey', 'otlpHeadersFile', 'backupS3Credentials'] as const;

/** Warns of files with secrets that every user of this machine can read. */
export function warnOfOpenFiles(config: Config, log: Pick<Log, 'warn'>): void {
  for (const name of secretFiles) {
    const file = config[name];
    if (file === undefined || !isOpen(file)) continue;
    const { flag } = settings.find(({ key }) => key === name)!;
    log.warn('everyone on this machine can read a file with a secret', {
      setting: `--${flag}`,
      file,
      hint: `chmod o= ${file}`,
    });
  }
}

/** Where it cannot be read, whoever needs it says so. */
function isOpen(file: string): boolean {
  try {
    return (statSync(file).mode & 0o004) !== 0;
  } catch {
    return false;
  }
}
