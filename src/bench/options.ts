import type { Arguments } from '../cli/command.ts';
import { UsageError } from '../cli/options.ts';
import { settings } from '../contract/config-schema.ts';
import { usableCores } from '../runtime/cores.ts';
import { loadConfig } from '../serve/config/config.ts';
import { type Dimension, dimensions, leastTime, type SweepOptions, type Transport } from './sweep.ts';

/** Limits of the lists of values. Each value also has the limits of its setting. */
const mostValues = 8;
const mostConnections = 10_000;
const mostBatchPackets = 1_000_000;
const mostSeconds = 3_600;
const usualSeconds = 240;
const smallStage = 0.25;

/** Values that are measured by default in addition to the base, which is the server's default. */
const others: Readonly<Record<Exclude<Dimension, 'threads'>, readonly number[]>> = {
  workers: [2],
  'batch-packets': [1_024, 16_384],
  'commit-delay': [0, 5],
};
const usualConnections = [16, 64, 256];

/** Reads the options of a sweep. @param own true if the bench starts the server itself @throws {UsageError} */
export function sweepOptions(given: Arguments, own: boolean): SweepOptions {
  const small = given.has('small');
  const connections = readIntegers(given, 'connections', [1, mostConnections]) ?? (small ? [16] : usualConnections);
  const options = {
    transports: listTransports(given, own),
    values: own ? readValues(given, small) : {},
    connections: connections.toSorted((a, b) => a - b),
    repeats: small ? 1 : 2,
    least: small ? smallStage : 1,
  };
  const least = leastTime({ ...options, time: 0 });
  const time = readInteger(given, 'time', [1, mostSeconds]) ?? (small ? least : Math.max(least, usualSeconds));
  if (time < least) throw new UsageError(`Cannot use --time ${time}: these stages take at least ${least} s`);
  return { ...options, time };
}

function listTransports(given: Arguments, own: boolean): readonly Transport[] {
  return own || given.has('grpc') ? ['http', 'grpc'] : ['http'];
}

function readValues(given: Arguments, small: boolean): SweepOptions['values'] {
  const { threads, workers, batchPackets, commitDelay } = loadConfig({ argv: [], env: {}, readFile: () => '' });
  const usuals = { threads, workers, 'batch-packets': batchPackets, 'commit-delay': commitDelay };
  return Object.fromEntries(
    dimensions.map((name) => {
      const usual = usuals[name];
      const more = name === 'threads' ? threadCounts() : others[name];
      const values = [usual, ...more.filter((value) => value !== usual)];
      return [name, readIntegers(given, name, findBounds(name)) ?? (small ? [usual] : values)];
    }),
  );
}

/** Returns the numbers of threads to measure: 0, and powers of two up to the number of cores. */
function threadCounts(): readonly number[] {
  const counts = [0];
  for (let count = 1; count <= usableCores() && counts.length < mostValues - 1; count *= 2) counts.push(count);
  return counts;
}

function findBounds(name: Dimension): readonly [number, number] {
  const { minimum = 0, maximum = mostBatchPackets } = settings.find(({ option }) => option === name)!.schema;
  return [minimum, Math.min(maximum, mostBatchPackets)];
}

/** Parses a list of whole numbers, without duplicates. @throws {UsageError} */
function readIntegers(given: Arguments, name: string, bounds: readonly [number, number]): number[] | undefined {
  const text = given.value(name);
  if (text === undefined) return undefined;
  const values = [...new Set(text.split(',').map((each) => readWhole(each, name, bounds)))];
  if (values.length <= mostValues) return values;
  throw new UsageError(`Cannot use --${name}: at most ${mostValues} values`);
}

/** @throws {UsageError} */
function readInteger(given: Arguments, name: string, bounds: readonly [number, number]): number | undefined {
  const text = given.value(name);
  return text === undefined ? undefined : readWhole(text, name, bounds);
}

function readWhole(text: string, name: string, [least, most]: readonly [number, number]): number {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new UsageError(`Cannot use --${name} ${text}: must be a whole number from ${least} to ${most}`);
}
