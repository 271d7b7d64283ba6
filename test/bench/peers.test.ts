import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { counterModules } from '../../bench/peers/counter.ts';
import { isInstalled } from '../support/install-modules.ts';
import { needing } from '../support/needing.ts';
import { unleashModules } from '../unleash-server/start-unleash.ts';

const root = resolve(import.meta.dirname, '../..');

/** Modules that the benchmark of other programs installs. */
const modules = {
  why: [counterModules, unleashModules].every(isInstalled)
    ? undefined
    : 'needs the modules of other programs (npm run bench -- peers --small)',
};

needing('postgresql', modules).describe('the comparison with other programs', () => {
  const { it } = needing('postgresql', modules);

  it('the peers benchmark measures the speed of other programs, and the requests that they lose', async () => {
    const bun = join(root, 'node_modules/.bin/bun');
    const args = [join(root, 'bench/main.ts'), 'peers', 'packets', 'tokens', '--small', '--json'];
    const { stdout } = await promisify(execFile)(bun, args, { cwd: root });
    const { figures } = JSON.parse(stdout) as { figures: { name: string; rps: number; durability?: object }[] };
    expect(figures.map(({ name }) => name.replace(/ .*/, ''))).toEqual([
      ...['flagmeter', 'Fastify', 'unleash-server'],
      ...['flagmeter', 'oidc-provider'],
    ]);
    for (const { rps } of figures) expect(rps).toBeGreaterThan(0);
    for (const at of [0, 1])
      expect(figures[at]).toMatchObject({ durability: { lostSeconds: 0, retryCounts: at === 1 ? 2 : 1 } });
  });
});
