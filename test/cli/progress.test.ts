import { expect, test } from 'vitest';
import { Progress } from '../../src/cli/progress.ts';
import { testClock } from '../accounts/fixture.ts';

function open(interactive: boolean) {
  let text = '';
  const err = (more: string) => {
    text += more;
  };
  const clock = testClock();
  const terminal = { out: () => {}, err, interactive, env: {}, readFile: () => '' };
  return { clock, progress: new Progress(terminal, clock, 'checking'), text: () => text };
}

const MiB = 2 ** 20;

test('Progress without a terminal writes a line every few seconds, and nothing for short work', () => {
  const { clock, progress, text } = open(false);
  progress.report({ done: MiB, total: 4 * MiB });
  expect(text()).toBe('');
  clock.advance(5000);
  progress.report({ done: 2 * MiB, total: 4 * MiB });
  clock.advance(4999);
  progress.report({ done: 3 * MiB, total: 4 * MiB });
  clock.advance(1);
  progress.report({ done: 12_345, total: 0, unit: 'records' });
  progress.end();
  expect(text()).toBe('checking: 2 MiB, 50 %\nchecking: 12345 records\n');
});

test('Progress without a terminal ends with 100 % if it has written a line, and contains no carriage return', () => {
  const short = open(false);
  short.progress.report({ done: MiB, total: 4 * MiB });
  short.progress.complete();
  expect(short.text()).toBe('');
  const { clock, progress, text } = open(false);
  clock.advance(5000);
  progress.report({ done: 12_345, total: 0, unit: 'records' });
  progress.complete();
  progress.end();
  expect(text()).toBe('checking: 12345 records\nchecking: 12345 records, 100 %\n');
});

test('Progress of finished work on a terminal stays at 100 %, and the next text begins below it', () => {
  const { progress, text } = open(true);
  progress.report({ done: 0, total: 4 * MiB });
  progress.report({ done: 3 * MiB, total: 4 * MiB });
  progress.complete();
  progress.end();
  expect(text()).toBe(`\rchecking [${'.'.repeat(30)}] 0 % 0 MiB\rchecking [${'#'.repeat(30)}] 100 % 4 MiB\n`);
});

test('Progress rewrites one line on a terminal, and removes the line of unfinished work', () => {
  const { clock, progress, text } = open(true);
  progress.report({ done: 0, total: 4 * MiB });
  clock.advance(100);
  progress.report({ done: 4 * MiB, total: 4 * MiB });
  progress.end();
  expect(text()).not.toContain('\n');
  expect(text()).toContain(`\rchecking [${'#'.repeat(30)}] 100 % 4 MiB`);
  expect(text()).toMatch(/\r +\r$/);
});
