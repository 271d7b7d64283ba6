import { command, type Entry } from '../../cli/command.ts';
import { jsonOption, yesOption } from '../../cli/common-options.ts';
import { option } from '../../contract/shapes/option.ts';
import { adminEmailOption, passwordFile, postgresKeyFileOption, postgresOptions } from './data-directory.ts';

const allowAsynchronousOption = option('allow-asynchronous', 'Accept that a failover can lose counts and revocations');

const withoutKeyFileOption = option('without-key-file', 'Store signing keys and other secrets in clear text', {
  excludes: ['postgres-key-file'],
});

const init = command({
  name: 'postgres init',
  summary: 'Initialise PostgreSQL for several nodes; print its first administrator and API key once',
  examples: [
    'postgres init --admin-email ada@shop.example --postgres-file postgres.url --postgres-key-file postgres.key',
  ],
  options: [
    adminEmailOption,
    ...postgresOptions,
    postgresKeyFileOption,
    withoutKeyFileOption,
    passwordFile('admin-password-file'),
    allowAsynchronousOption,
    jsonOption,
  ],
  load: async () => (await import('../server/postgres-setup.ts')).postgresInit,
});

const status = command({
  name: 'postgres status',
  summary: 'Show nodes, unshipped data and warnings',
  examples: ['postgres status --postgres-file postgres.url'],
  options: [...postgresOptions, postgresKeyFileOption, jsonOption],
  load: async () => (await import('../server/postgres-status.ts')).postgresStatus,
});

const migrate = command({
  name: 'postgres migrate',
  summary: 'Migrate the tables to the layout of this program, while nodes run',
  examples: ['postgres migrate --postgres-file postgres.url'],
  options: [...postgresOptions, jsonOption],
  load: async () => (await import('../server/postgres-setup.ts')).postgresMigrate,
});

const forgetNode = command({
  name: 'postgres forget-node',
  summary: 'Forget a permanently lost node; print the size of its unshipped data',
  examples: ['postgres forget-node node-3 --postgres-file postgres.url'],
  operand: { name: 'NODE', description: 'Node name, or id of its data directory' },
  options: [
    ...postgresOptions,
    option('force', 'Forget the node even after a heartbeat within the last ten minutes'),
    yesOption,
    jsonOption,
  ],
  load: async () => (await import('../server/postgres-forget-node.ts')).postgresForgetNode,
});

const adopt = command({
  name: 'postgres adopt',
  summary: 'Fill an empty PostgreSQL from the data directory of a single machine or a node',
  examples: ['postgres adopt --data /var/lib/flagmeter --postgres-file postgres.url --postgres-key-file postgres.key'],
  options: [
    option('data DIR', 'Data directory of the store', { file: true, more: 'FLAGMETER_DATA' }),
    option('from-replica', 'Restore a lost PostgreSQL from the replica of a node'),
    option('set-aside NAME', 'Restore this set-aside data of the node, instead of the data with the latest accounts'),
    option('dry-run', 'List the data of the node, also while it runs, without changing it'),
    ...postgresOptions,
    postgresKeyFileOption,
    withoutKeyFileOption,
    allowAsynchronousOption,
    jsonOption,
  ],
  load: async () => (await import('../server/postgres-adopt.ts')).postgresAdopt,
});

const key = command({
  name: 'postgres key',
  summary: 'Create a key file that encrypts the secrets in PostgreSQL',
  examples: ['postgres key --out postgres.key'],
  options: [option('out FILE', 'New file', { file: true, required: true })],
  load: async () => (await import('../server/postgres-setup.ts')).postgresKey,
});

const encrypt = command({
  name: 'postgres encrypt',
  formerly: 'postgres encrypt-keys',
  summary: 'Encrypt the secrets in a PostgreSQL without a key file, while all nodes are stopped',
  examples: ['postgres encrypt --postgres-file postgres.url --postgres-key-file postgres.key'],
  options: [...postgresOptions, postgresKeyFileOption, jsonOption],
  load: async () => (await import('../server/postgres-setup.ts')).postgresEncrypt,
});

export const postgres: Entry = {
  summary: 'Initialise and monitor the PostgreSQL that several nodes share',
  commands: [init, status, migrate, forgetNode, adopt, key, encrypt],
  notes: `
Other users of the machine can read a password in an argument: put the URL into a file. An
initialised database is left unchanged by postgres init (exit code 1).

The key file encrypts signing keys and other secrets. postgres init and postgres adopt need it, or
--without-key-file. postgres encrypt encrypts them later: stop all nodes, run it, and start each
node with the key file.

postgres init and postgres adopt refuse a PostgreSQL whose failover can lose commits, such as one
with asynchronous standbys. With --allow-asynchronous, a failover can lose counts and revocations.

postgres migrate can run while nodes run. It refuses a step that the version of a node cannot
follow.
postgres forget-node is for a node whose data directory is lost. A node that can be started again
ships its data by itself.

postgres adopt fills an empty database from the data directory of a stopped server. Give it the
server's --config or variables too, to keep its retention. If it is interrupted, run it again to
continue. Afterwards, the directory belongs to a node.

postgres adopt --from-replica restores a lost or outdated PostgreSQL into an empty database,
from the directory of a stopped node. Give it the --postgres-key-file of the nodes. --dry-run lists
the data of a node: use the node with the latest data.
`,
};
