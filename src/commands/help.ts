import { closest } from 'fastest-levenshtein';
import { groups, type Setting, settings } from '../config-schema.ts';
import { UsageError } from '../flags.ts';
import { showSize } from '../size.ts';
import type { Terminal } from '../terminal.ts';

/** Every command in one line each. */
export const summaries = {
  serve: 'Run the server; on an empty data directory it prepares it as init does',
  init: 'Prepare a data directory: the first administrator and the first API key, printed once',
  keys: 'Make a new key that signs tokens (keys rotate), also while the server runs',
  version: 'Print the version',
  help: 'Print this text, or the flags of one command',
} as const;

export type CommandName = keyof typeof summaries;

/** Whether there is such a command. */
export function isCommand(name: string): name is CommandName {
  return Object.hasOwn(summaries, name);
}

/** The complaint about a command that does not exist. */
export function unknownCommand(name: string): UsageError {
  const nearest = closest(name, Object.keys(summaries));
  return new UsageError(`Unknown command ${name}; the nearest known one is ${nearest}`);
}

/**
 * Prints the overview, or the help of the one command named.
 * @throws {UsageError} for an unknown command, or more than one
 */
export function help(argv: readonly string[], terminal: Terminal): number {
  const [name, ...surplus] = argv;
  if (surplus.length > 0) throw new UsageError('Cannot use more than one argument: help takes one command');
  if (name !== undefined && !isCommand(name)) throw unknownCommand(name);
  terminal.out(helpText(name));
  return 0;
}

/** The overview, or the text of one command; at most 100 columns wide. */
export function helpText(name?: CommandName): string {
  if (name === 'serve') return serveText();
  if (name === 'init') return initText;
  if (name === 'keys') return keysText;
  if (name === undefined) return overview();
  return `flagmeter ${name === 'help' ? 'help [COMMAND]' : name}\n\n${summaries[name]}.\n`;
}

function overview(): string {
  const commands = Object.entries(summaries).map(([name, summary]) => `  ${name.padEnd(9)}${summary}`);
  return `flagmeter: OAuth tokens and durable usage telemetry for teams that run feature flags

Usage: flagmeter COMMAND [--flag VALUE …]

${commands.join('\n')}

'flagmeter help serve' lists every setting of the server.
`;
}

const initText = `flagmeter init --admin-email EMAIL [--data DIR] [--admin-password-file FILE] [--json]

${summaries.init}.
A data directory that is prepared already is left as it is, with exit code 1.

  --data DIR                  Data directory
                              default: ./flagmeter-data, FLAGMETER_DATA
  --config FILE               JSON file that may name the data directory
                              FLAGMETER_CONFIG
  --admin-email EMAIL         E-mail address that the administrator signs in with
  --admin-password-file FILE  First line is the password, 12 characters or more; - is standard input
                              default: a password is made and printed
  --json                      Print one JSON object instead of text
`;

const keysText = `flagmeter keys rotate [--data DIR] [--json]

${summaries.keys}.
A server on the data directory takes it up within seconds. Tokens of the key before stay valid until
they expire; its private part is gone.

  --data DIR                  Data directory
                              default: ./flagmeter-data, FLAGMETER_DATA
  --config FILE               JSON file that may name the data directory
                              FLAGMETER_CONFIG
  --json                      Print one JSON object instead of text
`;

function serveText(): string {
  const parts = groups.map((group) => {
    const members = settings.filter(({ schema }) => schema.group === group);
    return `${group}\n${members.map(entry).join('\n')}\n`;
  });
  return `flagmeter serve [--flag VALUE …]

${summaries.serve}.
A flag beats its environment variable, which beats its key in the --config file.
A byte count may end in KiB, MiB or GiB. When ready, one line goes to standard output:
flagmeter ready http=HOST:PORT grpc=HOST:PORT

${parts.join('\n')}`;
}

function entry({ flag, variable, schema }: Setting): string {
  const usage = `  --${flag} ${schema.value}`.padEnd(29);
  const value = defaultOf(schema);
  const more = [rangeOf(schema), value && `default: ${value}`, variable].filter((part) => part !== undefined);
  return `${usage} ${schema.description}\n${''.padEnd(30)}${more.join(', ')}`;
}

/** Which numbers a setting takes; undefined when it takes a text. */
export function rangeOf({ minimum, maximum, size }: Setting['schema']): string | undefined {
  if (minimum === undefined || maximum === undefined) return undefined;
  const show = size ? showSize : String;
  return maximum === Number.MAX_SAFE_INTEGER
    ? `${show(minimum)} or more`
    : `${show(minimum)} to ${show(maximum)}`;
}

/** How a setting's default is written; undefined when it has none. */
export function defaultOf(schema: Setting['schema']): string | undefined {
  if (typeof schema.default === 'number' && schema.size) return showSize(schema.default);
  return schema.default === undefined ? schema.defaultText : String(schema.default);
}
