import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

// The reserve replaces the class of all threads of a process, so it has a process of its own.
test('the start of a thread does not block the starting thread while many descriptors are free', () => {
  const program = join(import.meta.dirname, 'reserve-program.ts');
  expect(execFileSync(process.execPath, [program], { encoding: 'utf8' })).toBe('0\n');
});
