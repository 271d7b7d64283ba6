import { expect, test } from 'vitest';
import { createLog, logConsole } from '../../src/runtime/log.ts';

test.each([
  ['error', [new Error('first\nsecond')]],
  ['warn', ['In %s callback', 'aftercommit', new Error('a "quoted" \u001b[31m \u2028 \ud800 text\r\n')]],
  ['info', [{ nested: ['x\n'] }]],
] as const)('console.%s output of a library becomes one line of JSON', (level, said) => {
  const lines: string[] = [];
  const target = { ...console };
  const putBack = logConsole(
    createLog('debug', (line) => lines.push(line), { now: () => 0 }),
    target,
  );
  target[level](...said);
  putBack();
  expect(target[level]).toBe(console[level]);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(/^[^\n\r\u001b]*\n$/);
  expect(JSON.parse(lines[0]!)).toMatchObject({ level, msg: 'console output of a library' });
});
