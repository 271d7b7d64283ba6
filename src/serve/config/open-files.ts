import { statSync } from 'node:fs';
import { settings } from '../../contract/config-schema.ts';
import type { Log } from '../../runtime/log.ts';
import type { Config } from './config.ts';

/** Settings whose files hold secrets. Readable key files of PostgreSQL are refused elsewhere. */
const secretFiles = ['postgresFile', 'tlsKey', 'otlpHeadersFile', 'backupS3Credentials'] as const;

/** Warns of secret files that every user of this machine can read. */
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

/** A file that cannot be read is reported where it is used. */
function isOpen(file: string): boolean {
  try {
    return (statSync(file).mode & 0o004) !== 0;
  } catch {
    return false;
  }
}
