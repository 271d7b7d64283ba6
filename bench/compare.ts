import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { closest } from 'fastest-levenshtein';
import { cleanUp } from '../test/support/binary.ts';
import { type Benchmark, note, readOptions } from './benchmark.ts';
import type { CompareOptions } from './compare/group.ts';
import { groups } from './compare/groups.ts';
import { isLoss, type Row } from './compare/row.ts';
import { json, markdown } from './compare/table.ts';

/**
 * Compares the new executable (`--binary`) with the previous executable, in all figures that a change of code can
 * worsen.
 */
export const compare: Benchmark = {
  summary: 'every figure of two executables in alternating rounds: faster, slower, within noise',
  usage:
    '--against EXECUTABLE [--only start,token] [--json] [--out DIR] [--rounds 5] [--seconds 1] [--warmup 3] [--packets 100000] [--small] [--binary dist/flagmeter]',
  async run(args) {
    const options = readOptions(
      args,
      { rounds: 5, seconds: 1, warmup: 3, packets: 100_000 },
      { rounds: 1, seconds: 0.1, warmup: 0.1, packets: 2_000 },
      {},
      ['against', 'only', 'out'],
    );
    const binaries = [requirePrevious(options.against), executable('binary', options.binary)] as const;
    const chosen = choose(options.only);
    if (options.out !== undefined) mkdirSync(options.out, { recursive: true });
    const rows = await measureGroups(chosen, binaries, options);
    print(rows, binaries, options);
    // Requests that only the previous executable refused appear in the table, but do not count as a failure.
    process.exitCode = rows.some(isLoss) ? 1 : 0;
  },
};

function requirePrevious(against: string | undefined): string {
  if (against === undefined)
    throw new TypeError("Option '--against' is missing: give the path of the previous executable");
  return executable('against', resolve(against));
}

function executable(option: string, path: string): string {
  if (!existsSync(path))
    throw new TypeError(`Option '--${option}' must be the path of an executable: ${path} is missing`);
  return path;
}

/** Chooses groups by name. @throws {TypeError} on an unknown name, with the most similar known name */
function choose(only: string | undefined): readonly string[] {
  const known = [...groups.keys()];
  const names = only?.split(',') ?? known;
  for (const name of names) {
    if (!groups.has(name))
      throw new TypeError(`Option '--only' has the unknown group '${name}'; did you mean '${closest(name, known)}'?`);
  }
  return known.filter((name) => names.includes(name));
}

async function measureGroups(
  names: readonly string[],
  binaries: readonly [string, string],
  options: CompareOptions,
): Promise<Row[]> {
  const chosen = names.map((name) => ({ name, group: groups.get(name)! }));
  const seconds = chosen.reduce((sum, { group }) => sum + group.seconds(options), 0);
  note(`${names.join(', ')}: about ${Math.ceil(seconds / 6) / 10} minutes`);
  const rows: Row[] = [];
  const began = performance.now();
  for (const [at, { name, group }] of chosen.entries()) {
    note(`${name} (${at + 1} of ${chosen.length}) …`);
    try {
      const measured = await group.measure(binaries, options);
      rows.push(...measured);
      // The rows of each group are printed immediately, in case the comparison is interrupted.
      if (chosen.length > 1) note(markdown(measured));
    } finally {
      cleanUp();
    }
    note(`${Math.round((performance.now() - began) / 1000)} s`);
  }
  return rows;
}

function print(
  rows: readonly Row[],
  [previous, current]: readonly [string, string],
  options: CompareOptions & { readonly json: boolean; readonly out: string | undefined },
): void {
  const { rounds, seconds } = options;
  const object = `${JSON.stringify({ previous, current, rounds, seconds, rows: json(rows) })}\n`;
  const text = `new: ${current}\nprevious: ${previous}\n\n${markdown(rows)}\nRounds: ${rounds}. Cells are medians, with the least and the greatest round.\n`;
  process.stdout.write(options.json ? object : text);
  if (options.out === undefined) return;
  writeFileSync(join(options.out, 'compare.json'), object);
  writeFileSync(join(options.out, 'compare.md'), text);
}
