import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createRows, isLoss, judge, type Row, type Verdict } from '../../bench/compare/row.ts';
import { json, markdown } from '../../bench/compare/table.ts';
import { runBenchmark } from '../support/benchmarks.ts';
import { binaryPath, freshDirectory } from '../support/binary.ts';

const root = resolve(import.meta.dirname, '../..');
const bun = join(root, 'node_modules/.bin/bun');
const command = [join(root, 'bench/main.ts'), 'compare'];

const compare = (...args: string[]) => runBenchmark('compare', ...args);

/** Creates a shell script that replaces an executable. */
function script(text: string): string {
  const path = join(freshDirectory(), 'flagmeter');
  writeFileSync(path, `#!/bin/sh\n${text}\n`);
  chmodSync(path, 0o755);
  return path;
}

function row(fields: Partial<Row>): Row {
  return { group: 'token', name: 'tokens/s', better: 'more', tolerance: 0.05, previous: [], current: [], ...fields };
}

const steady = [100, 101, 102, 103, 104];

describe('judge', () => {
  it.each<[string, Verdict, Partial<Row>]>([
    ['all rounds better and a difference above the tolerance', 'faster', { current: [120, 121, 122, 123, 124] }],
    ['all rounds worse and a difference above the tolerance', 'slower', { current: [80, 81, 82, 83, 84] }],
    ['a higher cost', 'slower', { better: 'less', current: [120, 121, 122, 123, 124] }],
    ['a lower cost', 'faster', { better: 'less', current: [80, 81, 82, 83, 84] }],
    ['a round within the range of the other executable', 'within noise', { current: [80, 81, 82, 83, 100] }],
    ['a difference below the tolerance', 'within noise', { current: [98, 98, 99, 99, 99] }],
    ['a difference below a larger tolerance', 'within noise', { tolerance: 0.25, current: [80, 81, 82, 83, 84] }],
    ['equal rounds', 'within noise', { current: steady }],
    ['three rounds', 'not judged', { previous: [100, 101, 102], current: [1, 2, 3] }],
    ['four rounds', 'slower', { previous: [100, 101, 102, 103], current: [1, 2, 3, 4] }],
    ['one exact value', 'slower', { better: 'less', exact: true, previous: [100], current: [106] }],
    ['one exact value within the tolerance', 'within noise', { exact: true, previous: [100], current: [99] }],
    ['no previous value', 'not available', { previous: [], current: steady }],
    ['no new value', 'not available', { current: [] }],
  ])('a comparison with %s is judged as %s', (_, verdict, fields) => {
    expect(judge(row({ previous: steady, ...fields }))).toBe(verdict);
  });

  it('a comparison returns no verdict for a figure for which neither direction is better', () => {
    const { better: _, ...neutral } = row({ previous: steady, current: [1, 2, 3, 4, 5] });
    expect(judge(neutral)).toBe('not judged');
    expect(isLoss(neutral)).toBe(false);
  });

  it.each<[string, boolean, Partial<Row>]>([
    ['a slower executable', true, { previous: steady, current: [80, 81, 82, 83, 84] }],
    ['a new executable that lacks a figure', true, { previous: steady, current: [] }],
    ['a previous executable that lacks a figure', false, { previous: [], current: steady }],
    ['a faster executable', false, { previous: steady, current: [120, 121, 122, 123, 124] }],
    ['noise', false, { previous: steady, current: steady }],
  ])('a comparison of %s counts as a loss: %s', (_, loss, fields) => {
    expect(isLoss(row(fields))).toBe(loss);
  });
});

describe('createRows', () => {
  const figures = [
    { name: 'disk, kB', of: (run: { disk: number | null }) => run.disk, better: 'less' as const, tolerance: 0.1 },
  ];
  const run = (disk: number | null) => ({ disk });

  it.each([
    ['that neither side reports', [[run(null)], [run(null)]]],
    ['that is always 0', [[run(0)], [run(0)]]],
  ] as const)('createRows omits a figure %s', (_, samples) => {
    expect(createRows('wear', figures, samples)).toEqual([]);
  });

  it.each([
    ['that one side reports', [[run(null)], [run(2)]], [2]],
    ['if neither side has run', [[], []], []],
  ] as const)('createRows keeps a figure %s', (_, samples, current) => {
    expect(createRows('wear', figures, samples)).toMatchObject([{ group: 'wear', previous: [], current }]);
  });
});

describe('the table of a comparison', () => {
  const rows = [
    row({ previous: [17_000, 18_000, 19_000, 20_000], current: [8_000, 9_000, 9_500, 10_000] }),
    row({ name: 'p99, ms', better: 'less', previous: [], current: [1.234, 1.5, 1.6, 1.7] }),
    row({ name: 'executable, MiB', better: 'less', exact: true, previous: [127], current: [127] }),
  ];

  it('a comparison in Markdown has medians, spreads, ratios and verdicts', () => {
    expect(markdown(rows)).toBe(
      [
        '| Figure | previous | new | new ÷ previous | verdict |',
        '| --- | --: | --: | --: | --- |',
        '| token: tokens/s | 18,500 (17,000–20,000) | 9,250 (8,000–10,000) | 0.50 | **slower** |',
        '| token: p99, ms | not available | 1.55 (1.23–1.70) |  | not available |',
        '| token: executable, MiB | 127 | 127 | 1.00 | within noise |',
        '',
      ].join('\n'),
    );
  });

  it('a comparison in JSON has the value of each round', () => {
    expect(json(rows).slice(0, 2)).toMatchObject([
      { previousMedian: 18_500, currentMedian: 9_250, ratio: 0.5, verdict: 'slower', previous: rows[0]!.previous },
      { previousMedian: null, ratio: null, verdict: 'not available' },
    ]);
  });
});

describe('npm run bench -- compare', () => {
  it('npm run bench -- compare measures every figure, and exits with 1 if a figure is slower', async () => {
    const out = freshDirectory();
    const smaller = script(`exec ${binaryPath} "$@"`);
    const result = await compare('--against', smaller, '--small', '--json', '--out', out);
    expect(result).toMatchObject({ code: 1, stderr: expect.not.stringContaining('NOT ') });
    const { rows } = JSON.parse(result.stdout) as { rows: Row[] };
    expect(new Set(rows.map(({ group }) => group.split(',')[0]))).toEqual(
      new Set('start memory token verify mint grpc unleash ingest one-port wear'.split(' ')),
    );
    for (const { group, name, previous, current } of rows)
      for (const value of [...previous, ...current]) expect(value, `${group} ${name}`).toEqual(expect.any(Number));
    expect(readFileSync(join(out, 'compare.json'), 'utf8')).toBe(result.stdout);
    const table = readFileSync(join(out, 'compare.md'), 'utf8');
    expect(table).toContain('| token, 8 connections: tokens/s |');
    expect(table.match(/.*\*\*slower\*\*/g)).toEqual([expect.stringContaining('| start: executable, MiB |')]);
  });

  it('npm run bench -- compare continues if the previous executable lacks a figure', async () => {
    const { code, stdout, stderr } = await compare('--against', script('exit 3'), '--only', 'memory', '--small');
    expect(stderr).toContain('NOT AVAILABLE in the previous executable');
    expect(stdout).toMatch(/memory: idle, MiB \| not available \| [\d.]+ \| {2}\| not available/);
    expect(code).toBe(0);
  });

  it('npm run bench -- compare exits with 1 if the new executable lacks a figure', async () => {
    const args = ['--against', binaryPath, '--binary', script('exit 3'), '--only', 'memory', '--small'];
    expect(await compare(...args)).toMatchObject({ code: 1, stdout: expect.stringContaining('not available') });
  });

  it.each([
    ['an unknown group', ['--against', binaryPath, '--only', 'start,tokne'], "did you mean 'token'?"],
    ['a missing previous executable', [], '--against'],
    ['a path that does not exist', ['--against', '/no/such/flagmeter'], '/no/such/flagmeter is missing'],
  ])('npm run bench -- compare refuses %s with exit code 2', async (_, args, said) => {
    const { code, stdout, stderr } = await compare(...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(said);
  });

  it.each([
    ['Ctrl-C', 'SIGINT', 130],
    ['SIGTERM', 'SIGTERM', 143],
  ] as const)('compare stops its servers and removes their data on %s', async (_, signal, expected) => {
    const folder = freshDirectory();
    const args = [...command, '--against', binaryPath, '--only', 'token', '--warmup', '0.1'];
    const child = spawn(bun, args, { env: { ...process.env, TMPDIR: folder }, stdio: ['ignore', 'ignore', 'pipe'] });
    await printed(child, 'previous: ');
    expect(processesWith(folder)).not.toEqual([]);
    child.kill(signal);
    const code = await new Promise((ended) => child.once('close', ended));
    expect(code).toBe(expected);
    await expect.poll(() => processesWith(folder)).toEqual([]);
    expect(readdirSync(folder).filter((name) => name.startsWith('flagmeter-'))).toEqual([]);
  });
});

function printed(child: ChildProcess, text: string): Promise<void> {
  let output = '';
  return new Promise((done, failed) => {
    child.stderr?.on('data', (chunk: Buffer) => {
      output += String(chunk);
      if (output.includes(text)) done();
    });
    child.once('close', () => failed(new Error(`it ended early: ${output}`)));
  });
}

/** Returns the ids of processes whose arguments contain the given text. */
function processesWith(text: string): string[] {
  return readdirSync('/proc').filter((entry) => {
    if (!/^\d+$/.test(entry)) return false;
    try {
      return readFileSync(`/proc/${entry}/cmdline`, 'utf8').includes(text);
    } catch {
      return false; // The process has ended.
    }
  });
}
