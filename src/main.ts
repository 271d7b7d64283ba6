import { tmpdir } from 'node:os';
import type { Context } from './cli/context.ts';
import { exitCodes, Failure } from './cli/failure.ts';
import { UsageError } from './cli/flags.ts';
import type { ReportName } from './cli/reports.ts';
import type { Terminal } from './cli/terminal.ts';
import { commandNamed } from './commands/command-named.ts';
import type { CommandName } from './commands/command-table.ts';
import type { ResourceName } from './contract/resources/resources.ts';
import { readTextFile } from './runtime/text-file.ts';

type Run = (argv: readonly string[], terminal: Terminal) => number | Promise<number>;

/** Each command is loaded when it is used, so that help and version do not load the server, nor the server all texts of help. */
const commands: Readonly<Record<CommandName, () => Promise<Run>>> = {
  demo: async () => (await import('./demo/demo.ts')).demo,
  serve: async () => (await import('./commands/serve.ts')).serve,
  init: async () => (await import('./commands/init.ts')).init,
  admin: async () => (await import('./commands/subcommands.ts')).admin,
  'signing-keys': async () => (await import('./commands/subcommands.ts')).signingKeys,
  backup: async () => (await import('./commands/backup.ts')).backup,
  restore: async () => (await import('./commands/restore.ts')).restore,
  verify: async () => (await import('./commands/verify.ts')).verify,
  compact: async () => (await import('./commands/compact.ts')).compact,
  bench: async () => (await import('./bench/bench.ts')).bench,
  postgres: async () => (await import('./commands/subcommands.ts')).postgres,
  login: () => client(async () => (await import('./cli/login.ts')).login),
  logout: () => client(async () => (await import('./cli/logout.ts')).logout),
  whoami: () => client(async () => (await import('./cli/whoami.ts')).whoami),
  health: () => client(async () => (await import('./cli/health.ts')).health),
  apps: () => onResource('apps'),
  keys: async () => (await import('./commands/subcommands.ts')).keys,
  envs: () => onResource('envs'),
  features: () => client(async () => (await import('./cli/scan/run-scan.ts')).features),
  experiments: () => onResource('experiments'),
  metrics: () => onResource('metrics'),
  views: () => onResource('views'),
  usage: () => reporting('usage'),
  measurements: () => reporting('measurements'),
  ingest: () => reporting('ingest'),
  import: () => client(async () => (await import('./cli/import/run-import.ts')).runImport),
  people: () => client(async () => (await import('./cli/people.ts')).people),
  users: () => onResource('users'),
  teams: () => onResource('teams'),
  members: () => onResource('members'),
  'api-keys': () => onResource('api-keys'),
  clients: () => onResource('clients'),
  webhooks: () => onResource('webhooks'),
  providers: () => onResource('providers'),
  activity: () => onResource('activity'),
  audit: () => onResource('audit'),
  deletions: () => onResource('deletions'),
  completion: async () => (await import('./commands/completion.ts')).completion,
  version: async () => (await import('./commands/help.ts')).version,
  help: async () => (await import('./commands/help.ts')).help,
};

/** A command that talks to a server. */
async function client(
  load: () => Promise<(argv: readonly string[], context: Context) => Promise<number>>,
): Promise<Run> {
  const { contextOf } = await import('./cli/context.ts');
  const run = await load();
  return (argv, terminal) => run(argv, contextOf(terminal));
}

function onResource(name: ResourceName): Promise<Run> {
  return client(async () => {
    const { runResource } = await import('./cli/resource-command.ts');
    return (argv, context) => runResource(name, argv, context);
  });
}

function reporting(name: ReportName): Promise<Run> {
  return client(async () => {
    const { runReport } = await import('./cli/report-command.ts');
    return (argv, context) => runReport(name, argv, context);
  });
}

/** The words that `--help` among the arguments of a command refers to. */
async function helped(name: CommandName, [word = '']: readonly string[]): Promise<readonly string[]> {
  const { secondWords } = await import('./commands/help.ts');
  return secondWords(name).includes(word) ? [name, word] : [name];
}

async function run([word, ...argv]: readonly string[], terminal: Terminal): Promise<number> {
  if (word === undefined) throw new UsageError((await import('./commands/help.ts')).helpText().trimEnd());
  if (word === '--help' || word === '-h') return (await commands.help())(argv, terminal);
  if (word === '--version' || word === '-v') return (await commands.version())(argv, terminal);
  const name = commandNamed(commands, word);
  if (name === undefined) throw (await import('./commands/help.ts')).unknownCommand(word);
  if (argv.includes('--help') || argv.includes('-h'))
    return (await commands.help())(await helped(name, argv), terminal);
  return (await commands[name]())(argv, terminal);
}

/** The message of an expected error explains itself; an error of the program is shown with its stack. */
function complaint(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  if (/(\$bunfs|\.bun-).*\.node\b/.test(error.message)) return addonComplaint(error);
  return error instanceof TypeError || error instanceof ReferenceError ? error.stack : error.message;
}

/** At its start the executable unpacks the LMDB add-on to the temp directory and loads it from there. */
function addonComplaint({ message }: Error): string {
  const directory = /(\/.*)\/\.bun-/.exec(message)?.[1] ?? process.env['BUN_TMPDIR'] ?? tmpdir();
  const fault = message.includes('failed to map segment')
    ? `Cannot load the LMDB add-on from the temp directory ${directory}: it is mounted noexec`
    : `Cannot unpack the LMDB add-on to the temp directory ${directory}: it cannot be written to, or is full`;
  const must = 'set TMPDIR to a directory with 1 MB of room that can be written to and is not mounted noexec';
  return `${fault}; ${must} (${message})`;
}

/** What scripts read instead of the message. */
function failureJson(error: unknown): string {
  const kind = error instanceof Failure ? error.kind : error instanceof UsageError ? 'usage' : 'failed';
  const code = kind.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return JSON.stringify({ error: String(complaint(error)), code, exitCode: exitCodeOf(error) });
}

function exitCodeOf(error: unknown): number {
  if (error instanceof Failure) return error.exitCode;
  return error instanceof UsageError ? 2 : 1;
}

const terminal: Terminal = {
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  interactive: process.stderr.isTTY === true,
  outIsTerminal: process.stdout.isTTY === true,
  env: process.env,
  readFile: (path) => readTextFile(path === '-' ? 0 : path),
};

// The reader of the output may close the pipe early, as `head` does.
process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  if (code === 'EPIPE') return;
  terminal.err(`Cannot write to standard output: ${message}\n`);
  process.exit(1);
});

// A message that cannot be written is dropped. The exit code stays the same.
process.stderr.on('error', () => {});

try {
  process.exitCode = await run(process.argv.slice(2), terminal);
} catch (error) {
  const wantsJson = process.argv.includes('--json');
  terminal.err(`${wantsJson ? failureJson(error) : complaint(error)}\n`);
  process.exitCode = exitCodeOf(error);
  // A thread may still be working, or a pipe waiting for its other end.
  if (process.exitCode === exitCodes.interrupted) process.exit();
}
