import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { needing } from '../support/needing.ts';
import { root } from '../support/sources.ts';

const { it } = needing('git');

const folder = join(root, 'chaos/mutations');

it.each(readdirSync(folder))('%s still fits the code that it breaks', (name) => {
  const args = ['apply', '--check', '--verbose', join(folder, name)];
  const { status, stderr } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: expect.stringContaining('Checking patch src/') });
});
