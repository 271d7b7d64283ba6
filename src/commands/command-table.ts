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
import { commandOf } from '../cli/report.ts';
import { type ReportName, reports } from '../cli/reports.ts';
import { commandsOf } from '../cli/resource.ts';
import { capital } from '../cli/show.ts';
import { type ResourceName, resources } from '../contract/resources/resources.ts';
import { type Entry, server, simple } from './server-table.ts';

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

/** Whether there is such a command. */
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
