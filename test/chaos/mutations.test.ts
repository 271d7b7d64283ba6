import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { root } from '../support/sources.ts';

const folder = join(root, 'chaos/mutations');

it.each(readdirSync(folder))('%s still fits the code that it breaks', (name) => {
  const args = ['--dry-run', '--strip=1', '--batch', '--fuzz=3', '--input', join(folder, name)];
  expect(execFileSync('patch', args, { cwd: root, encoding: 'utf8' })).toContain('checking file src/');
});
