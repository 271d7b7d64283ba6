import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { binaryPath } from '../test/support/binary.ts';

/** A benchmark, as listed and run by `bench/main.ts`. */
export interface Benchmark {
  /** One line that describes what is measured. */
  readonly summary: string;
  /** Options of this benchmark, as the help text shows them after its name. */
  readonly usage: string;
  /** Runs the benchmark. @throws {TypeError} on an unknown or malformed option */
  run(args: string[]): Promise<void>;
}

/** Options that every benchmark has. */
export interface CommonOptions {
  /** True to print only one JSON object on stdout. */
  readonly json: boolean;
  /** True for a run of a second or two that checks only whether the benchmark works. Its figures have no meaning. */
  readonly small: boolean;
  /** Path of the measured executable. */
  readonly binary: string;
}

/**
 * Reads `--json`, `--small`, `--binary` and the named numeric options.
 * @param defaults value of each numeric option
 * @param small values that `--small` uses instead
 * @param lists default value of each list option, such as `--rates 100,1000`
 * @param texts names of options whose value is a text, or `undefined` if the option is missing
 * @throws {TypeError} on an unknown option, or a value that is not a positive number or a list of non-negative numbers
 */
export function readOptions<Name extends string, List extends string = never, Text extends string = never>(
  args: string[],
  defaults: Readonly<Record<Name, number>>,
  small: Partial<Readonly<Record<Name, number>>> = {},
  lists = {} as Readonly<Record<List, readonly number[]>>,
  texts: readonly Text[] = [],
): CommonOptions & Record<Name, number> & Record<List, readonly number[]> & Record<Text, string | undefined> {
  const names = [...Object.keys(defaults), ...Object.keys(lists), ...texts];
  const { values } = parseArgs({
    args,
    options: {
      json: { type: 'boolean', default: false },
      small: { type: 'boolean', default: false },
      binary: { type: 'string', default: binaryPath },
      ...Object.fromEntries(names.map((name) => [name, { type: 'string' as const }])),
    },
  });
  const readText = (name: string) => (values as Record<string, unknown>)[name] as string | undefined;
  const numbers = (Object.keys(defaults) as Name[]).map((name) => {
    const fallback = (values.small ? small[name] : undefined) ?? defaults[name];
    return [name, parseNumber(name, readText(name), fallback)];
  });
  const listed = (Object.keys(lists) as List[]).map((name) => [name, parseNumbers(name, readText(name), lists[name])]);
  return {
    json: values.json === true,
    small: values.small === true,
    binary: resolve(values.binary),
    ...(Object.fromEntries(numbers) as Record<Name, number>),
    ...(Object.fromEntries(listed) as Record<List, readonly number[]>),
    ...(Object.fromEntries(texts.map((name) => [name, readText(name)])) as Record<Text, string | undefined>),
  };
}

function parseNumber(name: string, text: string | undefined, fallback: number): number {
  const value = text === undefined ? fallback : Number(text);
  if (!(value > 0 && Number.isFinite(value))) {
    throw new TypeError(`Option '--${name}' must be a positive number: it is '${text}'`);
  }
  return value;
}

function parseNumbers(name: string, text: string | undefined, fallback: readonly number[]): readonly number[] {
  const values = text?.split(',').map(Number) ?? fallback;
  if (values.every((value) => value >= 0 && Number.isFinite(value))) return values;
  throw new TypeError(`Option '--${name}' must be numbers separated by commas: it is '${text}'`);
}

/** Prints a progress line on stderr, so that `--json` output on stdout is not mixed with it. */
export function note(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Reports unexpected responses of a target on stderr, and makes the benchmark exit with a failure. */
export function noteErrors(target: string, errors: Readonly<Record<string, number>>): void {
  if (Object.keys(errors).length === 0) return;
  note(`NOT ACCEPTED by ${target}: ${JSON.stringify(errors)}`);
  process.exitCode = 1;
}

/** Prints the result as JSON, or as rows with a label and a text. */
export function show(
  json: boolean,
  result: Readonly<Record<string, unknown>>,
  rows: readonly (readonly string[])[],
): void {
  process.stdout.write(json ? `${JSON.stringify(result)}\n` : table(rows));
}

/**
 * Formats rows of cells as aligned text. The first column is aligned left, the others right. A row with a single cell
 * is a remark.
 */
function table(rows: readonly (readonly string[])[]): string {
  const aligned = rows.filter((row) => row.length > 1);
  const measureColumn = (column: number) => Math.max(...aligned.map((row) => row[column]?.length ?? 0));
  const pad = (cell: string, column: number) =>
    column === 0 ? cell.padEnd(measureColumn(column)) : cell.padStart(measureColumn(column));
  return rows.map((row) => `${row.length > 1 ? row.map(pad).join('  ') : row.join('')}\n`).join('');
}
