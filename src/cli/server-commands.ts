import { type Setting, settings } from '../contract/config-schema.ts';
import type { Flag } from '../contract/shapes/option.ts';
import { flag } from '../contract/shapes/option.ts';
import type { Command } from './command.ts';
import { jsonFlag, yesFlag } from './common-flags.ts';

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

/** Where PostgreSQL is, for each command that connects to it. */
const postgresFlags: readonly Flag[] = [
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

const allowAsynchronousFlag = flag(
  'allow-asynchronous',
  'Accept that a failover may lose counts and revocations',
);

const postgresKeyFileFlag = flag('postgres-key-file FILE', 'File with the key that encrypts secrets', {
  file: true,
  more: 'FLAGMETER_POSTGRES_KEY_FILE',
  formerly: 'engine-key-file',
});

const withoutKeyFileFlag = flag('without-key-file', 'Store signing keys and other secrets in clear text', {
  excludes: ['postgres-key-file'],
});

/** `--config` is in `dataFlags` already. */
const ofPostgres = [...postgresFlags.filter(({ name }) => name !== 'config'), postgresKeyFileFlag];

/** A flag that names a file with a password. */
function passwordFile(name: string): Flag {
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

/** Values of a setting that `bench` measures. */
const sweepFlag = (name: string, what: string) =>
  flag(`${name} LIST`, `${what} to measure, such as 1,2,4; the first is the base`);

export const benchCommand: Command = {
  name: 'bench',
  summary: 'Measure what this machine sustains, and recommend settings',
  flags: [
    flag('time SECONDS', 'Total time', { more: 'default: 240, or more if the stages need it' }),
    flag('data DIR', 'New folder for temporary stores, on the disk to measure', {
      file: true,
      more: 'default: in the current directory; removed afterwards',
    }),
    sweepFlag('threads', 'Numbers of front-end threads'),
    sweepFlag('workers', 'Numbers of counting threads'),
    sweepFlag('batch-packets', 'Maximum packets in a commit'),
    sweepFlag('commit-delay', 'Delays of a commit in ms'),
    flag('connections LIST', 'Numbers of connections to measure', { more: 'default: 16,64,256' }),
    flag('small', 'Measure the defaults of the server only, in short stages'),
    flag('url URL', 'Drive a running server, with your login or API key, in place of a temporary one', {
      excludes: ['data', 'threads', 'workers', 'batch-packets', 'commit-delay'],
    }),
    flag('grpc HOST:PORT', 'gRPC address of that server, to drive it as well'),
    flag('i-own-this-host', 'Allow a --url or --grpc that is not a loopback address'),
    flag('report FILE', 'HTML report; an existing file is replaced', {
      file: true,
      more: 'default: flagmeter-bench.html',
    }),
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
    flag('remove-second-factors', 'Also remove the authenticator app and the passkeys of the user'),
    jsonFlag,
  ],
};

export const rotateSigningKeyCommand: Command = {
  name: 'signing-keys rotate',
  summary: 'Rotate the key that signs tokens, here or in PostgreSQL',
  flags: [...dataFlags, ...ofPostgres, yesFlag, jsonFlag],
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

export const postgresInitCommand: Command = {
  name: 'postgres init',
  summary: 'Initialise PostgreSQL for several nodes; print its first administrator and API key once',
  flags: [
    flag('admin-email EMAIL', 'E-mail address of the administrator', { required: true }),
    ...postgresFlags,
    postgresKeyFileFlag,
    withoutKeyFileFlag,
    passwordFile('admin-password-file'),
    allowAsynchronousFlag,
    jsonFlag,
  ],
};

export const postgresAdoptCommand: Command = {
  name: 'postgres adopt',
  summary: 'Fill an empty PostgreSQL from the data directory of a single machine or a node',
  flags: [
    flag('data DIR', 'Data directory of the store', { file: true, more: 'FLAGMETER_DATA' }),
    flag('from-replica', 'Restore a lost PostgreSQL from the replica of a node'),
    flag(
      'set-aside NAME',
      'Restore these set-aside data of the node, instead of the data with the latest accounts',
    ),
    flag('dry-run', 'List the data of the node, also while it runs, without a change'),
    ...postgresFlags,
    postgresKeyFileFlag,
    withoutKeyFileFlag,
    allowAsynchronousFlag,
    jsonFlag,
  ],
};

export const postgresKeyCommand: Command = {
  name: 'postgres key',
  summary: 'Create a key file that encrypts the secrets in PostgreSQL',
  flags: [flag('out FILE', 'New file', { file: true, required: true })],
};

export const postgresEncryptKeysCommand: Command = {
  name: 'postgres encrypt-keys',
  summary: 'Encrypt the secrets in a PostgreSQL without a key file, while all nodes are stopped',
  flags: [...postgresFlags, postgresKeyFileFlag, jsonFlag],
};

export const postgresStatusCommand: Command = {
  name: 'postgres status',
  summary: 'Show nodes, unshipped data and warnings',
  flags: [...postgresFlags, postgresKeyFileFlag, jsonFlag],
};

export const postgresMigrateCommand: Command = {
  name: 'postgres migrate',
  summary: 'Migrate the tables to the layout of this program, while nodes run',
  flags: [...postgresFlags, jsonFlag],
};

export const postgresForgetNodeCommand: Command = {
  name: 'postgres forget-node',
  summary: 'Forget a permanently lost node; print the size of its unshipped data',
  operand: { name: 'NODE', description: 'Node name, or id of its data directory' },
  flags: [
    ...postgresFlags,
    flag('force', 'Forget the node even after a heartbeat within the last ten minutes'),
    yesFlag,
    jsonFlag,
  ],
};
