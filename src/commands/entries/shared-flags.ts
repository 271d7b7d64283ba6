import { type Flag, flag } from '../../contract/shapes/option.ts';

/** Flags of several commands of the server. */

export const adminEmailFlag = flag('admin-email EMAIL', 'E-mail address of the administrator', {
  required: true,
});

export const dataFlags: readonly Flag[] = [
  flag('data DIR', 'Data directory', { file: true, more: 'default: ./flagmeter-data, FLAGMETER_DATA' }),
  flag('config FILE', 'JSON file that may set the data directory', { file: true, more: 'FLAGMETER_CONFIG' }),
];

/** Where PostgreSQL is, for each command that connects to it. */
export const postgresFlags: readonly Flag[] = [
  flag('postgres URL', 'URL of PostgreSQL with all of its hosts; prefer --postgres-file', {
    more: 'postgres://USER:PASSWORD@HOST,HOST/DATABASE, FLAGMETER_POSTGRES',
    formerly: 'engine',
  }),
  flag('postgres-file FILE', 'File with the URL, and nothing else', {
    file: true,
    more: 'FLAGMETER_POSTGRES_FILE',
    formerly: 'engine-file',
  }),
  flag('config FILE', 'JSON file that may set PostgreSQL', { file: true, more: 'FLAGMETER_CONFIG' }),
];

export const postgresKeyFileFlag = flag('postgres-key-file FILE', 'File with the key that encrypts secrets', {
  file: true,
  more: 'FLAGMETER_POSTGRES_KEY_FILE',
  formerly: 'engine-key-file',
});

/** `--config` is in `dataFlags` already. */
export const ofPostgres = [...postgresFlags.filter(({ name }) => name !== 'config'), postgresKeyFileFlag];

export const backupKeyFlag = flag(
  'backup-key-file FILE',
  'File with the MAC key of the backup: 32 bytes or more',
  {
    file: true,
    more: 'FLAGMETER_BACKUP_KEY_FILE',
  },
);

/** A flag that names a file with a password. */
export function passwordFile(name: string): Flag {
  return flag(
    `${name} FILE`,
    'File with the password on its first line, 12 characters or more; - is standard input',
    {
      file: true,
      more: 'default: a password is generated and printed',
    },
  );
}
