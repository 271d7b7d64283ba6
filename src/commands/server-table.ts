import type { Command } from '../cli/command.ts';
import {
  backupCommand,
  benchCommand,
  compactCommand,
  demoCommand,
  initCommand,
  postgresAdoptCommand,
  postgresEncryptKeysCommand,
  postgresForgetNodeCommand,
  postgresInitCommand,
  postgresKeyCommand,
  postgresMigrateCommand,
  postgresStatusCommand,
  resetPasswordCommand,
  restoreCommand,
  rotateSigningKeyCommand,
  serveCommand,
  verifyCommand,
} from '../cli/server-commands.ts';

/** One word after `flagmeter`, with the commands that it begins. */
export interface Entry {
  readonly summary: string;
  readonly commands: readonly Command[];
  /** More of the help text, in lines of at most 100 columns. */
  readonly notes?: string;
}

/** Commands that work on a data directory, or on what several nodes share. */
export const server = {
  demo: simple(
    demoCommand,
    `
The data directory is in the temp directory, and is removed when the demo stops (Ctrl-C). Settings
from the environment and from files are ignored.
`,
  ),
  serve: simple(serveCommand),
  init: simple(initCommand, 'An initialised data directory is left unchanged (exit code 1).\n'),
  admin: simple(
    resetPasswordCommand,
    `
Takes effect at once, also while the server runs. Run it on the machine of the server, as its user
or as root; with PostgreSQL, on any machine.
`,
  ),
  'signing-keys': simple(
    rotateSigningKeyCommand,
    `
Works on the data directory of this machine, also while the server runs. The server publishes the
new key within seconds and signs with it a minute later. Tokens of the previous key stay valid until
they expire; its private part is deleted. For a key of an application, use keys rotate.
`,
  ),
  backup: simple(
    backupCommand,
    `
Copies both stores as of one point in time, while a server may keep running. Run it as the user of
the server, on the same machine and in the same container. A previous file is replaced only once the
new one is complete and on disk.

Nodes of several machines are not backed up: back up PostgreSQL instead.
`,
  ),
  restore: simple(
    restoreCommand,
    `
The whole backup is checked before anything is written. A directory with data is refused. If the
command is interrupted, the directory is unchanged.
`,
  ),
  verify: simple(
    verifyCommand,
    `
Checks every page, record and reference, and that counts of minutes, hours and days add up. Stop the
server first, or verify a backup. A backup is restored temporarily beside its file, which needs the
same space again. Exit code 1: something is damaged. The output lists the damage and the remedy.
`,
  ),
  compact: simple(
    compactCommand,
    `
Copies each file without its free pages, checks the copy, and replaces the file by it. Stop the
server first. The copies need the same space again. Prints the space that was freed.
`,
  ),
  bench: simple(
    benchCommand,
    `
Starts temporary servers on this machine with one setting changed at a time, and drives each with
packets, the base also with reports over gRPC: first as fast as it answers, then in an open loop at
50 % and 80 % of that. An open loop sends at a fixed rate, so latencies include the time that a
packet waited to be sent. The load generator shares the machine. The best settings are measured
again before they are recommended.

With --url, drives a running server in an application that is created and deleted. Only use a server
that may become unavailable. Exit code 1: a usage report differs from the acknowledged packets.
`,
  ),
  postgres: {
    summary: 'Initialise and monitor the PostgreSQL that several nodes share',
    commands: [
      ...[postgresInitCommand, postgresStatusCommand, postgresMigrateCommand],
      ...[postgresForgetNodeCommand, postgresAdoptCommand, postgresKeyCommand, postgresEncryptKeysCommand],
    ],
    notes: `
Other users of the machine can read a password in an argument: put the URL into a file. An
initialised database is left unchanged by postgres init (exit code 1).

The key file encrypts signing keys and other secrets. postgres init and postgres adopt need it, or
--without-key-file. postgres encrypt-keys encrypts them later: stop all nodes, run it, and start
each node with the key file.

postgres init and postgres adopt refuse a PostgreSQL whose failover can lose commits, such as one
with asynchronous standbys. With --allow-asynchronous, a failover may lose counts and revocations.

postgres migrate may run while nodes do. It refuses a step that the program of a node cannot follow.
postgres forget-node is for a node whose data directory is lost. A node that can be started again
ships its data by itself.

postgres adopt fills an empty database from the data directory of a stopped server. Give it the
server's --config or variables too, to keep its retention. If it is interrupted, run it again to
continue. Afterwards, the directory belongs to a node.

postgres adopt --from-replica restores a lost or outdated PostgreSQL into an empty database,
from the directory of a stopped node. Give it the --postgres-key-file of the nodes. --dry-run lists
the data of a node: use the node with the latest data.
`,
  },
} as const;

/** The entry of a word with one command. */
export function simple(command: Command, notes?: string): Entry {
  return { summary: command.summary, commands: [command], ...(notes === undefined ? {} : { notes }) };
}
