import { describe, expect, it } from 'vitest';
import { formatCount } from '../../src/bench/measurement.ts';
import { conclude, listFindings } from '../../src/bench/result.ts';
import { mostWidth, paragraph, tablesText } from '../../src/bench/table.ts';
import { measured } from './measurements.ts';

const base = { threads: 1, workers: 1, 'batch-packets': 4_096, 'commit-delay': 0 };
const screen = { styled: false, width: undefined };
const all = [
  measured({ combination: base, threads: [{ role: 'journal', cores: 0.4 }], packetsPerSecond: 123_456 }),
  measured({
    combination: { threads: 16, workers: 16, 'batch-packets': 1_000_000, 'commit-delay': 1_000 },
    share: 0.5,
    offered: 61_728,
    isDisturbed: true,
    foreignCores: 1.2,
    connections: 10_000,
    p50: 1_234.5,
    p99: 12_345.6,
    p999: 23_456.7,
    generatorP99: 1.25,
    flushesPerSecond: 12_345,
    bytesPerPacket: 123_456,
    errors: 1_234_567,
  }),
];

describe('the tables of stages', () => {
  const text = tablesText(all, base, screen);

  it('the tables of stages have units in lower case', () => {
    expect(text).toContain('JOURNAL µs');
    expect(text).toContain('GENERATOR P99 ms');
    expect(text).not.toMatch(/[\u039c\u03bc]|\bMS\b/);
  });

  it('the tables of stages fit into 100 columns', () => {
    for (const line of text.split('\n')) expect([...line].length, line).toBeLessThanOrEqual(mostWidth);
    for (const whole of ['http, 50 %', '1.2, disturbed']) expect(text).toContain(whole);
    for (const title of ['SETTINGS', 'GENERATOR P99 ms', 'BYTES/PACKET', 'COUNTS']) expect(text).toContain(title);
  });

  it('the tables of stages number their stages', () => {
    expect(text.match(/^1 /gm)).toHaveLength(3);
    expect(text.match(/^2 /gm)).toHaveLength(3);
  });

  it('the tables of stages show the share of the generator only at a fixed rate', () => {
    const [first, second] = text.split('\n').filter((line) => /^[12] /.test(line));
    expect(first).toMatch(/ -$/);
    expect(second).toMatch(/ 1\.3$/);
  });
});

describe('the text of a bench', () => {
  it('the text of a bench uses singular and plural forms for counts', () => {
    expect([formatCount(1, 'run'), formatCount(2, 'stage'), formatCount(0, 'run')]).toEqual([
      '1 run',
      '2 stages',
      '0 runs',
    ]);
  });

  it('the text of a bench has at most 100 columns', () => {
    const lines = paragraph('word '.repeat(60).trim()).trimEnd().split('\n');
    expect(lines).toHaveLength(4);
    for (const line of lines) expect(line).toMatch(/^ {2}\S.{0,97}$/);
    expect(paragraph(`a ${'b'.repeat(200)} c`)).toBe(`  a\n  ${'b'.repeat(200)}\n  c\n`);
  });

  it('the text of a bench excludes generator delays from the sustained rate, and states these delays', () => {
    const machine = { version: '1.2.3', cores: 2, processor: 'CPU', memory: 2 ** 33, at: 0 };
    const open = measured({
      share: 0.5,
      offered: 25_000,
      packetsPerSecond: 25_000,
      p99: 9,
      generatorP99: 6.5,
      othersP99: 3.25,
    });
    const outcome = conclude(
      { measurements: [measured(), open], candidate: undefined },
      { threads: 1, 'commit-delay': 0 },
      ...([machine, [], true] as const),
    );
    const texts = listFindings(outcome).map(({ text }) => text);
    expect(texts).toContainEqual(expect.stringMatching(/within 3\.3 ms\. Delays of .* 6\.5 ms/));
    expect(texts).toContainEqual(expect.stringMatching(/^In 1 of 1 stage at a fixed rate/));
  });
});
