import { replaceActive } from '../contract/active-characters.ts';

/** Formats a line of the log for people: the time, the level, the message, and the fields. */
export function logText({ time, level, msg, ...fields }: LogLine): string {
  const stacks: string[] = [];
  const pairs = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${harmless(name)}=${shown(value, stacks)}`);
  const head = `${time} ${level.toUpperCase().padEnd(5)} ${harmless(msg)}`;
  return [[head, ...pairs].join(' '), ...stacks].join('\n');
}

/** A line before it is formatted: its fields are plain data. */
export interface LogLine {
  readonly time: string;
  readonly level: string;
  readonly msg: string;
  readonly [field: string]: unknown;
}

/** An error after its conversion to plain data. */
interface LoggedError {
  readonly name: string;
  readonly message: string;
  readonly stack: unknown;
  readonly cause?: unknown;
}

const word = /^[\w.:;,/@+*%-]+$/;

/** Stack traces go on separate lines. */
function shown(value: unknown, stacks: string[]): string {
  if (isError(value)) {
    stacks.push(...placesIn(value.stack).map((line) => `    ${harmless(line.trim())}`));
    return quoted(whatHappened(value));
  }
  if (typeof value === 'string') return word.test(value) ? value : quoted(value);
  return harmless(JSON.stringify(value) ?? 'null');
}

function isError(value: unknown): value is LoggedError {
  return (
    typeof value === 'object' && value !== null && ['name', 'message', 'stack'].every((key) => key in value)
  );
}

function whatHappened({ name, message, cause }: LoggedError): string {
  const why = isError(cause) ? whatHappened(cause) : cause;
  return `${name}: ${message}${why === undefined ? '' : ` (cause: ${String(why)})`}`;
}

function placesIn(stack: unknown): readonly string[] {
  return typeof stack === 'string' ? stack.split('\n').filter((line) => /^\s*at /.test(line)) : [];
}

function quoted(text: string): string {
  return harmless(JSON.stringify(text));
}

/** Escapes control characters as `\u…`, so that no field can start a new line. */
function harmless(text: string): string {
  return replaceActive(text, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
