import { tmpdir } from 'node:os';
import { runEntry, secondWords, type Terminal } from './cli/command.ts';
import { exitCodes, Failure } from './cli/failure.ts';
import { UsageError } from './cli/options.ts';
import { commandNamed, isOther, loadEntry, type OtherName } from './commands/command-files.ts';
import { readTextFile } from './runtime/files.ts';

type Run = (argv: readonly string[], terminal: Terminal) => number | Promise<number>;

const others: Readonly<Record<OtherName, () => Promise<Run>>> = {
  completion: async () => (await import('./commands/command-table.ts')).completion,
  version: async () => (await import('./commands/version.ts')).version,
  help: async () => (await import('./commands/help.ts')).help,
};

async function run([word, ...argv]: readonly string[], terminal: Terminal): Promise<number> {
  if (word === undefined) throw new UsageError((await import('./commands/help.ts')).helpText().trimEnd());
  if (word === '--help' || word === '-h') return (await others.help())(argv, terminal);
  if (word === '--version' || word === '-v') return (await others.version())(argv, terminal);
  const name = commandNamed(word);
  if (name === undefined) throw (await import('./commands/help.ts')).unknownCommand(word);
  const wantsHelp = argv.includes('--help') || argv.includes('-h');
  if (isOther(name))
    return wantsHelp ? (await others.help())([name], terminal) : (await others[name]())(argv, terminal);
  const entry = await loadEntry(name);
  if (!wantsHelp) return runEntry(name, entry, argv, terminal);
  const second = argv.slice(0, 1).filter((each) => secondWords(entry).includes(each));
  return (await others.help())([name, ...second], terminal);
}

/** Returns the message of an expected error, or the stack of a defect in the program. */
function complaint(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  if (/(\$bunfs|\.bun-).*\.node\b/.test(error.message)) return addonComplaint(error);
  return error instanceof TypeError || error instanceof ReferenceError ? error.stack : error.message;
}

/** Explains a failed load of the LMDB add-on, which the executable unpacks to the temp directory at startup. */
function addonComplaint({ message }: Error): string {
  const directory = /(\/.*)\/\.bun-/.exec(message)?.[1] ?? process.env['BUN_TMPDIR'] ?? tmpdir();
  const fault = message.includes('failed to map segment')
    ? `Cannot load the LMDB add-on from the temp directory ${directory}: it is mounted noexec`
    : `Cannot unpack the LMDB add-on to the temp directory ${directory}: it cannot be written to, or is full`;
  const must = 'set TMPDIR to a directory with 1 MB of room that can be written to and is not mounted noexec';
  return `${fault}; ${must} (${message})`;
}

/** Formats an error as JSON for scripts, in place of the message. */
function failureJson(error: unknown): string {
  const kind = error instanceof Failure ? error.kind : error instanceof UsageError ? 'usage' : 'failed';
  const code = kind.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return JSON.stringify({ error: String(complaint(error)), code, exitCode: getExitCode(error) });
}

function getExitCode(error: unknown): number {
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

// The reader of the output might close the pipe early, as `head` does.
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
  process.exitCode = getExitCode(error);
  // Forces the exit, because a thread might still run, or a pipe might wait for its other end.
  if (process.exitCode === exitCodes.interrupted) process.exit();
}
