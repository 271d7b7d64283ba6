import { replaceActive } from '../contract/active-characters.ts';

/** A line of the log, as it is read by people: the time, the level, the message, and the fields. */
export function logText({ time, level, msg, ...fields }: LogLine): string {
  const stacks: string[] = [];
  const pairs = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${harmless(name)}=${shown(value, stacks)}`);
  const head = `${time} ${level.toUpperCase().padEnd(5)} ${harmless(msg)}`;
  return [[head, ...pairs].join(' '), ...stacks].join('\n');
}

/** A line before it is written: its fields are plain data. */
export interface LogLine {
  readonly time: string;
  readonly level: string;
  readonly msg: string;
  readonly [field: string]: unknown;
}

/** An error as it comes after its fields were made plain. */
interface LoggedError {
  readonly name: string;
  readonly message: string;
  readonly stack: unknown;
  readonly cause?: unknown;
}

const word = /^[\w.:;,/@+*%-]+$/;

/** Where an error happened goes on lines of its own. */
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

/** What a terminal would act on is written as `\u…`: no field can begin a line of its own. */
function harmless(text: string): string {
  return replaceActive(text, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
