import { flag } from '../contract/resources/field.ts';
import type { Command } from './command.ts';
import { jsonFlag } from './common-flags.ts';
import { allowAsynchronousFlag, postgresFlags, postgresKeyFileFlag } from './postgres-flags.ts';
import { passwordFile } from './server-commands.ts';

export const postgresInitCommand: Command = {
  name: 'postgres init',
  summary: 'Prepare a PostgreSQL for several nodes; print its first administrator and API key, once',
  flags: [
    flag('admin-email EMAIL', 'E-mail address that the administrator signs in with', { required: true }),
    ...postgresFlags,
    postgresKeyFileFlag,
    passwordFile('admin-password-file'),
    allowAsynchronousFlag,
    jsonFlag,
  ],
};

export const postgresAdoptCommand: Command = {
  name: 'postgres adopt',
  summary: 'Fill an empty PostgreSQL from the data directory of a single machine or of a node',
  flags: [
    flag('data DIR', 'Data directory of the store', { file: true, more: 'FLAGMETER_DATA' }),
    flag('from-replica', 'Restore a lost PostgreSQL from what a node holds'),
    flag('set-aside NAME', 'Restore what the node has set aside, instead of what has the latest accounts'),
    flag('dry-run', 'List what the node holds, also while it runs, and change nothing'),
    ...postgresFlags,
    postgresKeyFileFlag,
    allowAsynchronousFlag,
    jsonFlag,
  ],
};

export const postgresKeyCommand: Command = {
  name: 'postgres key',
  summary: 'Make a key file that encrypts the secrets in PostgreSQL',
  flags: [flag('out FILE', 'A file that does not exist yet', { file: true, required: true })],
};

export const postgresStatusCommand: Command = {
  name: 'postgres status',
  summary: 'Show nodes, what they have not shipped, and what to change',
  flags: [...postgresFlags, postgresKeyFileFlag, jsonFlag],
};

export const postgresMigrateCommand: Command = {
  name: 'postgres migrate',
  summary: 'Bring the tables to the layout of this program, while nodes run',
  flags: [...postgresFlags, jsonFlag],
};

export const postgresForgetNodeCommand: Command = {
  name: 'postgres forget-node',
  summary: 'Give up a node that is gone for good, and say what it has not shipped',
  operand: { name: 'NODE', description: 'Its name, or the id of its directory' },
  flags: [
    ...postgresFlags,
    flag('force', 'Forget it although it was heard from within the last ten minutes'),
    flag('yes', 'Do not ask for confirmation'),
    jsonFlag,
  ],
};
