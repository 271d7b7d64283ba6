import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { prebuiltRecord, prebuiltTargets } from '../../scripts/build/lmdb.ts';
import { digestInputs, root } from '../../scripts/build/lmdb-sources.ts';
import { temporaryDirectory } from '../support/temporary.ts';

test.each(prebuiltTargets)('the prebuilt add-on of %s is compiled from the current sources', (target) => {
  const { inputs } = JSON.parse(readFileSync(prebuiltRecord(target), 'utf8'));
  expect(inputs, 'update it with npx bun scripts/prebuilt-addons.ts').toBe(digestInputs());
});

test('the build reports all missing tools before it does anything else', () => {
  const env = { PATH: temporaryDirectory(), CC: 'gcc', CXX: 'g++' };
  const built = spawnSync(join(root, 'node_modules/.bin/bun'), ['build.ts'], { cwd: root, env, encoding: 'utf8' });
  expect(built).toMatchObject({
    status: 1,
    stdout: '',
    stderr:
      'Building dist/flagmeter …\n' +
      'Cannot compile the LMDB add-on: gcc, g++, patch not found. It must be compiled because CC or CXX is set.\n' +
      'Install the missing tools (Debian: apt-get install gcc g++ patch), or set other compilers in CC and CXX.\n',
  });
});
