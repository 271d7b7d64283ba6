import {
  adoptCommand,
  cleanupCommand,
  completionCommand,
  forgetCommand,
  healthCommand,
  importCommand,
  loginCommand,
  logoutCommand,
  scanCommand,
  whoamiCommand,
} from '../cli/client-commands.ts';
import type { Command } from '../cli/command.ts';
import { commandOf } from '../cli/report.ts';
import { type ReportName, reports } from '../cli/reports.ts';
import { commandsOf } from '../cli/resource.ts';
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
import { capital } from '../cli/show.ts';
import { type ResourceName, resources } from '../contract/resources/resources.ts';

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

export function simple(command: Command, notes?: string): Entry {
  return { summary: command.summary, commands: [command], ...(notes === undefined ? {} : { notes }) };
}

const tableNotes = `
On a terminal, tables are truncated to its width. Pipes, files and --json get everything.
`;

/** Commands that talk to a server. */
const client = {
  login: simple(
    loginCommand,
    `
Without a browser here, --device shows an address and a code for one elsewhere, such as a phone's.

The tokens of each server are stored in $XDG_CONFIG_HOME/flagmeter/credentials.json
(~/.config/flagmeter), readable by this user only. A browser session renews itself for up to 90
days. A session of an API key lasts an hour, unless --store stores its secret too.

Without a login: FLAGMETER_TOKEN is an access token and takes precedence. With FLAGMETER_CLIENT_ID
and FLAGMETER_CLIENT_SECRET, each command requests a token of its own. In place of the secret,
FLAGMETER_WORKLOAD_TOKEN_FILE names a file with a token of the CI job or pod.
`,
  ),
  logout: simple(logoutCommand),
  whoami: simple(whoamiCommand),
  health: simple(
    healthCommand,
    `
The findings are those of Home and of the flags page in the console. Exit code 8: a finding is
urgent. Otherwise 0, also if there are warnings.
${tableNotes}`,
  ),
  apps: entryOf('apps'),
  keys: {
    summary: `${entryOf('keys').summary}; adopt tokens`,
    commands: [...entryOf('keys').commands, adoptCommand],
    notes: `
keys adopt reads a token that services already send to Unleash. Only its hash is stored:

  flagmeter keys adopt --app shop --environment Production --type Backend < token

keys rotate prints a new key of the same type, name and environment. If the previous one has leaked,
delete it too.
`,
  },
  envs: entryOf('envs'),
  features: {
    summary: `${entryOf('features').summary}; scan a source tree; list what can go`,
    commands: [...entryOf('features').commands, scanCommand, cleanupCommand],
    notes: `
features scan reads the files that git does not ignore, except binary files and those over 1 MiB. It
finds known features by name, as a word or in quotes, and any name that is the first argument of a
function such as isEnabled. With --fail-if-any, features scan and features list exit with 8 if they
find anything.

features scan --upload sends the places of known features to the server, which shows them with each
feature. DIR must be a whole repository: features that it does not name count as missing from the
code. Owners are those of CODEOWNERS. It needs the scope write. In CI:

  flagmeter features scan . --app shop --upload --repository "$REPOSITORY" --revision "$SHA" \\
    --link 'https://github.com/{OWNER}/{REPO}/blob/{revision}/{path}#L{line}'
${tableNotes}`,
  },
  experiments: entryOf('experiments'),
  metrics: entryOf('metrics'),
  views: entryOf('views'),
  usage: simple(commandOf(reports.usage), tableNotes),
  measurements: simple(commandOf(reports.measurements), tableNotes),
  ingest: simple(
    commandOf(reports.ingest),
    `
Lists refused packets and reports by reason and status, noted ones (accepted, but partly dropped) by
reason, and then all senders.
${tableNotes}`,
  ),
  import: simple(
    importCommand,
    `
Imports exports of usage and of measurements (CSV or NDJSON), and client_metrics_env of Unleash as
psql \\copy writes it, up to the time of a switch-over with --before.
The same file counts once: run an interrupted import again to continue. A changed file is another
file, so correct bad lines in the file that --bad-lines writes. Exit code 8: there are bad lines;
the others are imported.
`,
  ),
  people: {
    summary: 'Forget a person whose identity was in packets or mint requests',
    commands: [forgetCommand],
    notes: `
Totals and counts of unique users do not change. Earlier backups still contain the identity.
`,
  },
  users: entryOf('users'),
  teams: entryOf('teams'),
  members: entryOf('members'),
  'api-keys': entryOf('api-keys'),
  clients: entryOf('clients'),
  webhooks: entryOf('webhooks'),
  providers: entryOf('providers'),
  activity: entryOf('activity'),
  audit: entryOf('audit'),
  deletions: entryOf('deletions'),
} as const satisfies Readonly<
  Record<'login' | 'logout' | 'whoami' | 'health' | 'import' | 'people' | ResourceName | ReportName, Entry>
>;

const others = {
  completion: simple(
    completionCommand,
    `
  bash                        source <(flagmeter completion bash), in ~/.bashrc
  zsh                         source <(flagmeter completion zsh), in ~/.zshrc after compinit
  fish                        flagmeter completion fish > ~/.config/fish/completions/flagmeter.fish
`,
  ),
  version: simple({ name: 'version', summary: 'Print the version', flags: [] }),
  help: simple({
    name: 'help',
    summary: 'Print this text, or the help of a command',
    operand: {
      name: 'COMMAND',
      optional: true,
      values: [...Object.keys({ ...server, ...client }), 'completion', 'version', 'help'],
      description: 'Command',
    },
    flags: [],
  }),
} as const;

/** Every command of the program, in the order of the help text. */
export const commandTable: Readonly<Record<CommandName, Entry>> = { ...server, ...client, ...others };

export type CommandName = keyof typeof server | keyof typeof client | keyof typeof others;

/** The names of the commands, under the headings of the help text. */
export const commandGroups: readonly { readonly title: string; readonly names: readonly string[] }[] = [
  { title: 'Run a server', names: Object.keys(server) },
  { title: 'Use a server', names: Object.keys(client) },
  { title: 'Other', names: Object.keys(others) },
];

export function isCommand(name: string): name is CommandName {
  return Object.hasOwn(commandTable, name);
}

function entryOf(name: ResourceName): Entry {
  const commands = commandsOf(resources[name]);
  const words = commands.filter(({ verb }) => verb !== 'show').map(({ word, verb }) => word || verb);
  const said = new Intl.ListFormat('en-GB').format(words);
  return {
    summary: `${capital(said)} ${resources[name].many}`,
    commands: commands.map(({ command }) => command),
    notes: tableNotes,
  };
}
