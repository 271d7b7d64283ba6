import { type Setting, settings } from '../contract/config-schema.ts';
import type { Flag } from '../contract/resources/field.ts';
import { flag } from '../contract/resources/field.ts';
import type { Command } from './command.ts';
import { jsonFlag } from './common-flags.ts';
import { postgresFlags, postgresKeyFileFlag } from './postgres-flags.ts';

export const serveCommand: Command = {
  name: 'serve',
  summary: 'Run the server; initialise an empty data directory first, as init does',
  flags: [
    ...settings.map(flagOf),
    flag('check', 'Check settings, files, the data directory and addresses, and exit without a change'),
  ],
};

function flagOf({ flag: name, formerly, schema }: Setting): Flag {
  const { value, description, enum: values } = schema;
  const isFile = value === 'FILE' || value === 'DIR';
  return {
    name,
    ...(value && { value }),
    ...(formerly && { formerly: formerly.flag }),
    description,
    ...(values && { values }),
    ...(isFile && { file: true }),
  };
}

const dataFlags: readonly Flag[] = [
  flag('data DIR', 'Data directory', { file: true, more: 'default: ./flagmeter-data, FLAGMETER_DATA' }),
  flag('config FILE', 'JSON file that may set the data directory', { file: true, more: 'FLAGMETER_CONFIG' }),
];

/** `--config` is in `dataFlags` already. */
const ofPostgres = [...postgresFlags.filter(({ name }) => name !== 'config'), postgresKeyFileFlag];

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

const address = (name: string, what: string, usual: string) =>
  flag(`${name} HOST:PORT`, what, { more: `default: ${usual}, or a free port if that one is in use` });

export const demoCommand: Command = {
  name: 'demo',
  summary: 'Run a throwaway server with sample data and live traffic',
  flags: [
    address('listen', 'HTTP address', '127.0.0.1:8080'),
    address('grpc-listen', 'gRPC address', '127.0.0.1:8081'),
    flag('auth-url URL', 'Public URL; required if --listen is on all addresses', {
      more: 'default: the address of the HTTP listener',
    }),
    flag('seed N', 'Seed of the sample data', { more: 'default: 1' }),
    jsonFlag,
  ],
};

export const initCommand: Command = {
  name: 'init',
  summary: 'Initialise a data directory; print its first administrator and API key once',
  flags: [
    flag('admin-email EMAIL', 'E-mail address of the administrator', { required: true }),
    ...dataFlags,
    passwordFile('admin-password-file'),
    jsonFlag,
  ],
};

export const resetPasswordCommand: Command = {
  name: 'admin reset-password',
  summary: 'Reset the password of a user and end their sessions, here or in PostgreSQL',
  flags: [
    flag('email EMAIL', 'E-mail address of the user', { required: true }),
    ...dataFlags,
    ...ofPostgres,
    passwordFile('password-file'),
    jsonFlag,
  ],
};

export const rotateCommand: Command = {
  name: 'keys rotate',
  summary: 'Rotate the key that signs tokens, here or in PostgreSQL',
  flags: [...dataFlags, ...ofPostgres, jsonFlag],
};

const backupKeyFlag = flag('backup-key-file FILE', 'File with the MAC key of the backup: 32 bytes or more', {
  file: true,
  more: 'FLAGMETER_BACKUP_KEY_FILE',
});

export const verifyCommand: Command = {
  name: 'verify',
  summary: 'Check a data directory or a backup for damage',
  operand: { name: 'FILE', optional: true, description: 'Backup' },
  flags: [...dataFlags, backupKeyFlag, jsonFlag],
};

export const backupCommand: Command = {
  name: 'backup',
  summary: 'Back up a data directory to a file, also while a server uses it',
  flags: [
    flag('to FILE', 'Backup file; - is standard output', { file: true, required: true }),
    ...dataFlags,
    backupKeyFlag,
    jsonFlag,
  ],
};

export const compactCommand: Command = {
  name: 'compact',
  summary: 'Return unused space in the files of a data directory to the disk',
  flags: [...dataFlags, jsonFlag],
};

export const restoreCommand: Command = {
  name: 'restore',
  summary: 'Restore a data directory from a backup',
  flags: [
    flag('from FILE', 'Backup file; - is standard input', { file: true, required: true }),
    ...dataFlags,
    { ...backupKeyFlag, excludes: ['skip-mac-check'] },
    flag('skip-mac-check', 'Restore a backup that has a MAC without checking it'),
  ],
};
