import { type Setting, settings } from '../contract/config-schema.ts';
import type { Flag } from '../contract/resources/field.ts';
import { flag } from '../contract/resources/field.ts';
import type { Command } from './command.ts';
import { jsonFlag } from './common-flags.ts';
import { postgresFlags, postgresKeyFileFlag } from './postgres-flags.ts';

export const serveCommand: Command = {
  name: 'serve',
  summary: 'Run the server; on an empty data directory it prepares it as init does',
  flags: [
    ...settings.map(flagOf),
    flag('check', 'Check settings, files, the data directory and addresses, and end; nothing is changed'),
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
  flag('config FILE', 'JSON file that may name the data directory', { file: true, more: 'FLAGMETER_CONFIG' }),
];

/** Where the accounts of several nodes are; `--config` is there already. */
const ofPostgres = [...postgresFlags.filter(({ name }) => name !== 'config'), postgresKeyFileFlag];

/** A flag that names a file with a password. */
export function passwordFile(name: string): Flag {
  return flag(`${name} FILE`, 'First line is the password, 12 characters or more; - is standard input', {
    file: true,
    more: 'default: a password is made and printed',
  });
}

const address = (name: string, what: string, usual: string) =>
  flag(`${name} HOST:PORT`, what, { more: `default: ${usual}, or a free port where that one is taken` });

export const demoCommand: Command = {
  name: 'demo',
  summary: 'Run a throw-away server that is full of sample data, with live traffic',
  flags: [
    address('listen', 'HTTP', '127.0.0.1:8080'),
    address('grpc-listen', 'gRPC', '127.0.0.1:8081'),
    flag('auth-url URL', 'Public URL; required when --listen is on all addresses', {
      more: 'default: the address of the HTTP listener',
    }),
    flag('seed N', 'Another number makes other data', { more: 'default: 1' }),
    jsonFlag,
  ],
};

export const initCommand: Command = {
  name: 'init',
  summary: 'Prepare a data directory; print its first administrator and API key, once',
  flags: [
    flag('admin-email EMAIL', 'E-mail address that the administrator signs in with', { required: true }),
    ...dataFlags,
    passwordFile('admin-password-file'),
    jsonFlag,
  ],
};

export const resetPasswordCommand: Command = {
  name: 'admin reset-password',
  summary: "Reset a user's password and end their sessions, on this machine or in PostgreSQL",
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
  summary: 'Make a new key that signs tokens, on this machine or in PostgreSQL',
  flags: [...dataFlags, ...ofPostgres, jsonFlag],
};

const backupKeyFlag = flag('backup-key-file FILE', 'Key of the MAC of the backup: 32 bytes or more', {
  file: true,
  more: 'FLAGMETER_BACKUP_KEY_FILE',
});

export const verifyCommand: Command = {
  name: 'verify',
  summary: 'Check everything in a data directory, or in a backup, for damage',
  operand: { name: 'FILE', optional: true, description: 'A backup' },
  flags: [...dataFlags, backupKeyFlag, jsonFlag],
};

export const backupCommand: Command = {
  name: 'backup',
  summary: 'Write everything in a data directory to a file, also while a server uses it',
  flags: [
    flag('to FILE', 'The backup; - is standard output', { file: true, required: true }),
    ...dataFlags,
    backupKeyFlag,
    jsonFlag,
  ],
};

export const compactCommand: Command = {
  name: 'compact',
  summary: 'Give the room of deleted data in the files of a data directory back to the disk',
  flags: [...dataFlags, jsonFlag],
};

export const restoreCommand: Command = {
  name: 'restore',
  summary: 'Make a data directory of a backup',
  flags: [
    flag('from FILE', 'The backup; - is standard input', { file: true, required: true }),
    ...dataFlags,
    { ...backupKeyFlag, excludes: ['skip-mac-check'] },
    flag('skip-mac-check', 'Restore a backup that has a MAC without its key'),
  ],
};
