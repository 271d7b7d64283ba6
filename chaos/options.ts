import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { binaryPath } from '../test/support/binary.ts';
import { faults } from './faults/draw.ts';

export const usage = `npm run chaos -- [--minutes N] [--seed S] [options]

  --minutes N      Time in minutes after which no new round starts (default 2)
  --seed S         Seed that determines the faults (default: a random one)
  --rounds N       Number of rounds, instead of --minutes
  --only A,B       Faults to draw from (default all): ${[...faults.keys()].join(', ')}
  --alone          Run one node without PostgreSQL
  --stop           Stop after the first round with a violation
  --binary FILE    Executable of the service (default dist/flagmeter)
  --folder DIR     Folder for logs and data (default: a new temporary folder)
`;

export interface Options {
  readonly minutes: number;
  readonly seed: number;
  readonly rounds: number;
  readonly only: readonly string[];
  readonly isAlone: boolean;
  readonly stops: boolean;
  readonly binary: string;
  readonly folder: string;
}

/** @throws {TypeError} on an unknown or malformed option */
export function readOptions(args: string[]): Options {
  const text = { type: 'string' } as const;
  const yes = { type: 'boolean', default: false } as const;
  const { values } = parseArgs({
    args,
    options: { minutes: text, seed: text, rounds: text, only: text, binary: text, folder: text, alone: yes, stop: yes },
  });
  const only = (values.only ?? '').split(',').filter((name) => name !== '');
  const unknown = only.find((name) => !faults.has(name));
  if (unknown !== undefined) throw new TypeError(`Option '--only' names no fault: '${unknown}'`);
  return {
    minutes: parseNumber('minutes', values.minutes ?? '2'),
    seed: parseNumber('seed', values.seed ?? String(Math.floor(Math.random() * 1e9))),
    rounds: parseNumber('rounds', values.rounds ?? '1000000'),
    only,
    isAlone: values.alone,
    stops: values.stop,
    binary: resolve(values.binary ?? binaryPath),
    folder: resolve(values.folder ?? mkdtempSync(join(tmpdir(), 'flagmeter-chaos-'))),
  };
}

function parseNumber(name: string, text: string): number {
  const value = Number(text);
  if (!(value >= 0 && Number.isFinite(value)))
    throw new TypeError(`Option '--${name}' must be a number: it is '${text}'`);
  return value;
}
