import type { Command, Entry } from '../cli/command.ts';
import type { ReportName } from '../cli/reports.ts';
import type { ResourceName } from '../contract/resources/resources.ts';

/*
 * The commands, in the order of the help text. Each file declares one command. It is loaded only for help or to run the
 * command, so that a server does not load the texts of all commands.
 */

/** Commands that work on a data directory, or on the PostgreSQL that several nodes share. */
const server = {
  demo: async () => (await import('./entries/demo.ts')).demo,
  serve: async () => (await import('./entries/serve.ts')).serve,
  init: async () => (await import('./entries/data-directory.ts')).init,
  admin: async () => (await import('./entries/data-directory.ts')).admin,
  'signing-keys': async () => (await import('./entries/data-directory.ts')).signingKeys,
  backup: async () => (await import('./entries/data-directory.ts')).backup,
  restore: async () => (await import('./entries/data-directory.ts')).restore,
  verify: async () => (await import('./entries/data-directory.ts')).verify,
  compact: async () => (await import('./entries/data-directory.ts')).compact,
  support: async () => (await import('./entries/data-directory.ts')).support,
  bench: async () => (await import('./entries/bench.ts')).bench,
  postgres: async () => (await import('./entries/postgres.ts')).postgres,
} as const;

/** Commands that talk to a server. */
const client = {
  login: async () => (await import('../cli/sign-in/commands.ts')).login,
  logout: async () => (await import('../cli/sign-in/commands.ts')).logout,
  whoami: async () => (await import('../cli/sign-in/commands.ts')).whoami,
  use: async () => (await import('../cli/use.ts')).use,
  health: async () => (await import('../cli/health.ts')).health,
  apps: () => resource('apps'),
  keys: async () => (await import('./entries/keys.ts')).keys,
  envs: () => resource('envs'),
  features: async () => (await import('./entries/features.ts')).features,
  experiments: () => resource('experiments'),
  metrics: () => resource('metrics'),
  views: () => resource('views'),
  usage: () => report('usage'),
  measurements: () => report('measurements'),
  ingest: () => report('ingest'),
  import: async () => (await import('../cli/import/run-import.ts')).runImport,
  people: async () => (await import('../cli/people.ts')).people,
  users: () => resource('users'),
  teams: () => resource('teams'),
  members: () => resource('members'),
  'api-keys': () => resource('api-keys'),
  clients: () => resource('clients'),
  webhooks: () => resource('webhooks'),
  alerts: async () => (await import('../cli/alerts.ts')).alerts,
  providers: () => resource('providers'),
  activity: () => resource('activity'),
  audit: () => resource('audit'),
  deletions: () => resource('deletions'),
} as const satisfies Readonly<Record<ResourceName | ReportName, unknown> & Record<string, unknown>>;

/** Commands that need the table of all commands. */
const others = ['completion', 'version', 'help'] as const;

async function resource(name: ResourceName): Promise<Entry> {
  return (await import('../cli/resource-entry.ts')).resourceEntry(name);
}

async function report(name: ReportName): Promise<Command> {
  return (await import('../cli/reports.ts')).reportCommand(name);
}

const files: Readonly<Record<LoadedName, () => Promise<Command | Entry>>> = { ...server, ...client };

type LoadedName = keyof typeof server | keyof typeof client;
export type OtherName = (typeof others)[number];
export type CommandName = LoadedName | OtherName;

export const commandGroups: readonly { readonly title: string; readonly names: readonly CommandName[] }[] = [
  { title: 'Run a server', names: Object.keys(server) as (keyof typeof server)[] },
  { title: 'Use a server', names: Object.keys(client) as (keyof typeof client)[] },
  { title: 'Other', names: others },
];

export const commandNames = commandGroups.flatMap(({ names }) => names);

/** @param word the name of a command, or its name in an earlier version */
export function commandNamed(word: string): CommandName | undefined {
  return commandNames.find((name) => name === (word === 'engine' ? 'postgres' : word));
}

export function isOther(name: CommandName): name is OtherName {
  return others.some((other) => other === name);
}

export async function loadEntry(name: LoadedName): Promise<Entry> {
  const loaded = await files[name]();
  return 'run' in loaded ? { ...loaded, commands: [loaded] } : loaded;
}
