import { command, type Entry } from '../../cli/command.ts';
import { jsonOption, yesOption } from '../../cli/common-options.ts';
import { type Option, option } from '../../contract/shapes/option.ts';

/** An option of several server commands. */

export const adminEmailOption = option('admin-email EMAIL', 'E-mail address of the administrator', { required: true });

const configOption = option('config FILE', 'JSON file with settings of the server', {
  file: true,
  more: 'FLAGMETER_CONFIG; default: /etc/flagmeter/flagmeter.json if it exists',
});

const dataOptions: readonly Option[] = [
  option('data DIR', 'Data directory', { file: true, more: 'default: ./flagmeter-data, FLAGMETER_DATA' }),
  configOption,
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
  configOption,
];

export const postgresKeyFileOption = option('postgres-key-file FILE', 'File with the key that encrypts secrets', {
  file: true,
  more: 'FLAGMETER_POSTGRES_KEY_FILE',
  formerly: 'engine-key-file',
});

/** Options for PostgreSQL, except `--config`, which is already in `dataOptions`. */
const ofPostgres = [...postgresOptions.filter(({ name }) => name !== 'config'), postgresKeyFileOption];

const backupKeyOption = option('backup-key-file FILE', 'File with the MAC key of the backup: 32 bytes or more', {
  file: true,
  more: 'FLAGMETER_BACKUP_KEY_FILE',
});

/** The settings of a bucket, which are also settings of `serve`. */
const bucketOptions: readonly Option[] = [
  option('backup-s3-endpoint URL', 'Address of the S3-compatible service', {
    more: 'default: AWS in the region, FLAGMETER_BACKUP_S3_ENDPOINT',
  }),
  option('backup-s3-region NAME', 'Region for signing requests', {
    more: 'default: us-east-1, FLAGMETER_BACKUP_S3_REGION',
  }),
  option('backup-s3-credentials FILE', 'AWS credentials file', {
    file: true,
    more: 'default: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, FLAGMETER_BACKUP_S3_CREDENTIALS',
  }),
];

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
  examples: ['init --admin-email ada@shop.example --data /var/lib/flagmeter'],
  options: [adminEmailOption, ...dataOptions, passwordFile('admin-password-file'), jsonOption],
  notes: 'An initialised data directory is left unchanged (exit code 1).\n',
  load: async () => (await import('../server/init.ts')).init,
});

export const admin = command({
  name: 'admin reset-password',
  summary: 'Reset the password of a user, and end all sessions of the user',
  examples: ['admin reset-password --email ada@shop.example --data /var/lib/flagmeter'],
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
  examples: ['signing-keys rotate --data /var/lib/flagmeter'],
  options: [...dataOptions, ...ofPostgres, yesOption, jsonOption],
  notes: `
Works on the data directory of this machine, also while the server runs. The server publishes the
new key within seconds and signs with it a minute later. Tokens of the previous key stay valid until
they expire; its private part is deleted. For a key of an application, use keys rotate.
`,
  load: async () => (await import('../server/rotate-signing-key.ts')).rotateSigningKeyNow,
});

const makeBackup = command({
  name: 'backup',
  summary: 'Back up a data directory to a file or a bucket, also while a server uses it',
  examples: [
    'backup --to /mnt/backups/flagmeter.backup --data /var/lib/flagmeter',
    'backup --to s3://backups/shop --backup-s3-credentials /etc/flagmeter/s3',
  ],
  options: [
    option('to FILE', 'Backup file, or s3://BUCKET/PREFIX; - is standard output', { file: true, required: true }),
    ...dataOptions,
    backupKeyOption,
    ...bucketOptions,
    jsonOption,
  ],
  load: async () => (await import('../server/backup.ts')).backup,
});

const listBackups = command({
  name: 'backup list',
  summary: 'List the backups in a directory or a bucket, the latest first',
  examples: ['backup list s3://backups/shop --backup-s3-credentials /etc/flagmeter/s3'],
  operand: { name: 'PLACE', optional: true, description: 'Directory, or s3://BUCKET/PREFIX' },
  options: [configOption, ...bucketOptions, jsonOption],
  load: async () => (await import('../server/backup-list.ts')).backupList,
});

export const backup: Entry = {
  summary: 'Back up a data directory, also while a server uses it; list backups',
  commands: [makeBackup, listBackups],
  notes: `
Copies both stores as of one point in time, while a server can keep running. Run it as the user of
the server, on the same machine and in the same container. A previous file is replaced only once the
new one is complete and on disk. In a bucket, the backup is named after its time.

backup list shows the files named like flagmeter-2026-01-31T12-00-00Z.backup, and reports others as
skipped. Without PLACE, it lists --backup-to of the settings. Nodes of several machines are not
backed up: back up PostgreSQL instead.
`,
};

export const restore = command({
  name: 'restore',
  summary: 'Restore a data directory from a backup',
  examples: [
    'restore --from /mnt/backups/flagmeter.backup --data /var/lib/flagmeter',
    'restore --from s3://backups/shop --latest --data /var/lib/flagmeter',
  ],
  options: [
    option('from FILE', 'Backup file, directory, or s3://BUCKET/PREFIX; - is standard input', {
      file: true,
      required: true,
    }),
    option('latest', 'Restore the latest backup in the directory or the bucket'),
    ...dataOptions,
    { ...backupKeyOption, excludes: ['skip-mac-check'] },
    option('skip-mac-check', 'Restore a backup without checking its MAC'),
    ...bucketOptions,
  ],
  notes: `
The whole backup is checked before the directory has data. A directory with data is refused. If the
command is interrupted, the directory is unchanged.
`,
  load: async () => (await import('../server/backup.ts')).restore,
});

export const verify = command({
  name: 'verify',
  summary: 'Check a data directory or a backup for damage',
  examples: [
    'verify /mnt/backups/flagmeter.backup',
    'verify s3://backups/shop --backup-s3-credentials /etc/flagmeter/s3',
    'verify --data /var/lib/flagmeter',
  ],
  operand: { name: 'FILE', optional: true, description: 'Backup, or a directory or s3://BUCKET/PREFIX with backups' },
  options: [...dataOptions, backupKeyOption, ...bucketOptions, jsonOption],
  notes: `
Checks every page, record and reference, and that counts of minutes, hours and days add up. Stop the
server first, or verify a backup. A backup is restored temporarily next to its file, which needs the
same space again. A backup in a bucket is restored temporarily in TMPDIR. Of several backups, the
latest is checked. Exit code 1: something is damaged. The output lists the damage and the remedy.
`,
  load: async () => (await import('../server/verify.ts')).verify,
});

export const compact = command({
  name: 'compact',
  summary: 'Return unused space in the files of a data directory to the disk',
  examples: ['compact --data /var/lib/flagmeter'],
  options: [...dataOptions, jsonOption],
  notes: `
Copies each file without its free pages, checks the copy, and replaces the file by it. Stop the
server first. The copies need the same space again. Prints the space that was freed.
`,
  load: async () => (await import('../server/compact.ts')).compact,
});

export const support = command({
  name: 'support',
  summary: 'Write a file that describes a server, without secrets, to send to people who help',
  examples: ['support --data /var/lib/flagmeter --log /var/log/flagmeter.log'],
  options: [
    option('out FILE', 'New file; - is standard output', {
      file: true,
      more: 'default: flagmeter-support-TIME.txt in the current directory',
    }),
    option('url URL', 'Address of the server', { more: 'default: the listener in the settings' }),
    option('log FILE', 'Log of the server', { file: true, more: 'default: the journal of systemd' }),
    ...dataOptions,
    jsonOption,
  ],
  notes: `
The file has the version, the machine, the settings, the sizes of the stores, the health, the
metrics and the latest lines of the log. It has no secrets: paths of files with secrets and the
password of PostgreSQL are left out. So are lines of the log that do not have the form of the log.
Prints a list of the contents. A part that cannot be read has the reason instead.
`,
  load: async () => (await import('../server/support.ts')).support,
});
