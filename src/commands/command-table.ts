import {
  forgetCommand,
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
  compactCommand,
  demoCommand,
  initCommand,
  postgresAdoptCommand,
  postgresForgetNodeCommand,
  postgresInitCommand,
  postgresKeyCommand,
  postgresMigrateCommand,
  postgresStatusCommand,
  resetPasswordCommand,
  restoreCommand,
  rotateCommand,
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
const server = {
  demo: simple(
    demoCommand,
    `
Its data directory is in the temp directory, and is removed when the demo stops (Ctrl-C). It takes
no other settings: neither those of the environment nor those of a file.
`,
  ),
  serve: simple(serveCommand),
  init: simple(
    initCommand,
    'A data directory that is already prepared is left unchanged, with exit code 1.\n',
  ),
  admin: simple(
    resetPasswordCommand,
    `
A running server does it at once: run this on its machine, as its user or as root. With PostgreSQL
any machine will do.
`,
  ),
  backup: simple(
    backupCommand,
    `
Both stores are copied as they are at one point in time, and a server that uses them goes on. Run
it as the user of the server, on the same machine and in the same container. The file gets its name
when it is whole and on disk; one that was there before stays until then.

A node of several machines has no backup of its own: back up the PostgreSQL.
`,
  ),
  restore: simple(
    restoreCommand,
    `
All of the backup is checked before anything is written, and a directory that has data is refused.
Interrupted, it leaves the directory as it was.
`,
  ),
  verify: simple(
    verifyCommand,
    `
Every page and every record is checked, what they refer to, and that counts of minutes, hours and
days add up. No service may be using the directory: stop it, or verify a backup. A backup is
restored beside its file for that, which takes as much room again, and nothing of that stays.
Exit code 1: something is damaged. The output says what, and what to do.
`,
  ),
  compact: simple(
    compactCommand,
    `
Each file is written anew without its free pages, checked, and put in place of the one before. Stop
the server first. It takes as much room again for that time, and says what was gained.
`,
  ),
  postgres: {
    summary: 'Prepare and watch the PostgreSQL that several nodes share',
    commands: [
      ...[postgresInitCommand, postgresStatusCommand, postgresMigrateCommand],
      ...[postgresForgetNodeCommand, postgresAdoptCommand, postgresKeyCommand],
    ],
    notes: `
A URL with a password is seen by other users of the machine when it is an argument: put it into a
file. An initialised database is left unchanged by postgres init, with exit code 1.

postgres init and postgres adopt refuse a PostgreSQL whose failover can lose commits, such as one
with asynchronous standbys. With --allow-asynchronous, a failover may lose counts and revocations.

postgres migrate may run while nodes do. It refuses a step that the program of a node cannot follow.
postgres forget-node is for a node whose data directory is lost. One that can be started again ships
what it has counted by itself.

postgres adopt takes an empty database, and the data directory of a server that is stopped. Give it
the server's --config or variables, too: how long things are kept stays as it was. Interrupted, it
goes on from there when it is run again. The directory is that of a node then.

postgres adopt --from-replica restores a lost or outdated PostgreSQL into an empty database,
from the directory of a node that is stopped. Give it the --postgres-key-file of the nodes. With
--dry-run it lists what that node holds: use the node that is furthest.
`,
  },
} as const;

const tableNotes = `
On a terminal a table is cut to its width; a pipe, a file and --json get all of it.
`;

/** Commands that talk to a server. */
const client = {
  login: simple(
    loginCommand,
    `
Without a browser here, --device shows an address and a code for one elsewhere, such as a phone's.

The tokens are kept in $XDG_CONFIG_HOME/flagmeter/credentials.json (~/.config/flagmeter), which only
this user may read, for each server apart. A session by browser renews itself for up to 90 days. One
of an API key lasts an hour, unless --store keeps its secret there, too.

Without a login: FLAGMETER_TOKEN is an access token that comes before all others, and of
FLAGMETER_CLIENT_ID with FLAGMETER_CLIENT_SECRET each command makes a token for itself.
`,
  ),
  logout: simple(logoutCommand),
  whoami: simple(whoamiCommand),
  apps: entryOf('apps'),
  keys: {
    summary: `${entryOf('keys').summary}; rotate the key that signs tokens`,
    commands: [...entryOf('keys').commands, rotateCommand],
    notes: `
keys rotate works on the data directory of this machine, also while the server runs, which publishes
the new key within seconds and signs with it a minute later. Tokens of the previous key stay
valid until they expire; its private part is deleted.
`,
  },
  envs: entryOf('envs'),
  features: {
    summary: `${entryOf('features').summary}; scan a source tree`,
    commands: [...entryOf('features').commands, scanCommand],
    notes: `
features scan reads the files that git would take: not what .gitignore names, no binary file, none
over 1 MiB. A feature is in the code where its name stands as a word or quoted; the first argument
of a call that asks for a feature is one. Exit code 0, also if something is found: --fail-if-any
makes it 8, and so it does with features list.
${tableNotes}`,
  },
  metrics: entryOf('metrics'),
  usage: simple(commandOf(reports.usage), tableNotes),
  measurements: simple(commandOf(reports.measurements), tableNotes),
  ingest: simple(
    commandOf(reports.ingest),
    `
Refused packets and reports are shown with their reason and status, noted ones (accepted, but in
part dropped) with their reason, and then every sender.
${tableNotes}`,
  ),
  people: {
    summary: 'Forget a person whose identity packets or mint requests named',
    commands: [forgetCommand],
    notes: `
Totals and counts of unique users do not change. Backups that were made before still contain the
identity.
`,
  },
  users: entryOf('users'),
  teams: entryOf('teams'),
  members: entryOf('members'),
  'api-keys': entryOf('api-keys'),
  clients: entryOf('clients'),
  webhooks: entryOf('webhooks'),
  audit: entryOf('audit'),
  deletions: entryOf('deletions'),
} as const satisfies Readonly<
  Record<'login' | 'logout' | 'whoami' | 'people' | ResourceName | ReportName, Entry>
>;

export const completionCommand: Command = {
  name: 'completion',
  summary: 'Print a script that has a shell complete commands and flags',
  operand: { name: 'SHELL', values: ['bash', 'zsh', 'fish'], description: 'bash, zsh or fish' },
  flags: [],
};

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
    summary: 'Print this text, or what one command takes',
    operand: {
      name: 'COMMAND',
      optional: true,
      values: [...Object.keys({ ...server, ...client }), 'completion', 'version', 'help'],
      description: 'A command',
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

/** The command of this name, which may be that of an earlier version. */
export function commandNamed(name: string): CommandName | undefined {
  if (name === 'engine') return 'postgres';
  return isCommand(name) ? name : undefined;
}

/** Whether there is such a command. */
export function isCommand(name: string): name is CommandName {
  return Object.hasOwn(commandTable, name);
}

function simple(command: Command, notes?: string): Entry {
  return { summary: command.summary, commands: [command], ...(notes === undefined ? {} : { notes }) };
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
