import { command } from '../../cli/command.ts';
import { jsonOption, yesOption } from '../../cli/common-options.ts';
import { type Option, option } from '../../contract/shapes/option.ts';

/** An option of several server commands. */

export const adminEmailOption = option('admin-email EMAIL', 'E-mail address of the administrator', { required: true });

const dataOptions: readonly Option[] = [
  option('data DIR', 'Data directory', { file: true, more: 'default: ./flagmeter-data, FLAGMETER_DATA' }),
  option('config FILE', 'JSON file that can set the data directory', { file: true, more: 'FLAGMETER_CONFIG' }),
];

/** Options of the commands that connect to PostgreSQL. */
export const postgresOptions: readonly Option[] = [
  option('postgres URL', 'URL of PostgreSQL with all of its hosts; prefer --postgres-file', {
    more: 'postgres://USER:PASSWORD@HOST,HOST/DATABASE, FLAGMETER_POSTGRES',
    formerly: 'engine',
  }),
  option('postgres-file FILE', 'File that contains only the URL', {
    file: true,
    more: 'FLAGMETER_POSTGRES_FILE',
    formerly: 'engine-file',
  }),
  option('config FILE', 'JSON file that can set PostgreSQL', { file: true, more: 'FLAGMETER_CONFIG' }),
];

export const postgresKeyFileOption = option('postgres-key-file FILE', 'File with the key that encrypts secrets', {
  file: true,
  more: 'FLAGMETER_POSTGRES_KEY_FILE',
  formerly: 'engine-key-file',
});

/** `dataOptions` already contains `--config`. */
const ofPostgres = [...postgresOptions.filter(({ name }) => name !== 'config'), postgresKeyFileOption];

const backupKeyOption = option('backup-key-file FILE', 'File with the MAC key of the backup: 32 bytes or more', {
  file: true,
  more: 'FLAGMETER_BACKUP_KEY_FILE',
});

export function passwordFile(name: string): Option {
  return option(
    `${name} FILE`,
    'File with the password on its first line, 12 characters or more; - is standard input',
    { file: true, more: 'default: a password is generated and printed' },
  );
}

export const init = command({
  name: 'init',
  summary: 'Initialise a data directory; print the first administrator and API key once',
  options: [adminEmailOption, ...dataOptions, passwordFile('admin-password-file'), jsonOption],
  notes: 'An initialised data directory is left unchanged (exit code 1).\n',
  load: async () => (await import('../server/init.ts')).init,
});

export const admin = command({
  name: 'admin reset-password',
  summary: 'Reset the password of a user, and end all sessions of the user',
  options: [
    option('email EMAIL', 'E-mail address of the user', { required: true }),
    ...dataOptions,
    ...ofPostgres,
    passwordFile('password-file'),
    option('remove-second-factors', 'Also remove the authenticator app and the passkeys of the user'),
    jsonOption,
  ],
  notes: `
Takes effect immediately, also while the server runs. Run it on the machine of the server, as its
user or as root; with PostgreSQL, on any machine.
`,
  load: async () => (await import('../server/reset-password.ts')).resetPassword,
});

export const signingKeys = command({
  name: 'signing-keys rotate',
  summary: 'Rotate the key that signs tokens, in a data directory or in PostgreSQL',
  options: [...dataOptions, ...ofPostgres, yesOption, jsonOption],
  notes: `
Works on the data directory of this machine, also while the server runs. The server publishes the
new key within seconds and signs with it a minute later. Tokens of the previous key stay valid until
they expire; its private part is deleted. For a key of an application, use keys rotate.
`,
  load: async () => (await import('../server/rotate-signing-key.ts')).rotateSigningKeyNow,
});

export const backup = command({
  name: 'backup',
  summary: 'Back up a data directory to a file, also while a server uses it',
  options: [
    option('to FILE', 'Backup file; - is standard output', { file: true, required: true }),
    ...dataOptions,
    backupKeyOption,
    jsonOption,
  ],
  notes: `
Copies both stores as of one point in time, while a server can keep running. Run it as the user of
the server, on the same machine and in the same container. A previous file is replaced only once the
new one is complete and on disk.

Nodes of several machines are not backed up: back up PostgreSQL instead.
`,
  load: async () => (await import('../server/backup.ts')).backup,
});

export const restore = command({
  name: 'restore',
  summary: 'Restore a data directory from a backup',
  options: [
    option('from FILE', 'Backup file; - is standard input', { file: true, required: true }),
    ...dataOptions,
    { ...backupKeyOption, excludes: ['skip-mac-check'] },
    option('skip-mac-check', 'Restore a backup without checking its MAC'),
  ],
  notes: `
The whole backup is checked before anything is written. A directory with data is refused. If the
command is interrupted, the directory is unchanged.
`,
  load: async () => (await import('../server/backup.ts')).restore,
});

export const verify = command({
  name: 'verify',
  summary: 'Check a data directory or a backup for damage',
  operand: { name: 'FILE', optional: true, description: 'Backup' },
  options: [...dataOptions, backupKeyOption, jsonOption],
  notes: `
Checks every page, record and reference, and that counts of minutes, hours and days add up. Stop the
server first, or verify a backup. A backup is restored temporarily next to its file, which needs the
same space again. Exit code 1: something is damaged. The output lists the damage and the remedy.
`,
  load: async () => (await import('../server/verify.ts')).verify,
});

export const compact = command({
  name: 'compact',
  summary: 'Return unused space in the files of a data directory to the disk',
  options: [...dataOptions, jsonOption],
  notes: `
Copies each file without its free pages, checks the copy, and replaces the file by it. Stop the
server first. The copies need the same space again. Prints the space that was freed.
`,
  load: async () => (await import('../server/compact.ts')).compact,
});
