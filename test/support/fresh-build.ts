import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { isStale } from '../../scripts/test/stale.ts';

const root = join(import.meta.dirname, '../..');
const inputs = [
  ...['src', 'docs', 'README.md', 'native', 'build.ts', 'scripts/build', 'package.json', 'package-lock.json'],
  ...['src', 'types', 'package.json'].map((name) => `clients/openfeature/${name}`),
];
const outputs = [
  ...[
    'dist/flagmeter',
    'dist/flagmeter.modules.json',
    'dist/console.json',
    'dist/console.bin',
    'dist/snippet.json',
    'dist/node/main.js',
  ],
  'clients/openfeature/dist/web.js',
];
const inRoot = (name: string) => join(root, name);

/**
 * Builds what the tests run, before the first of them, if the sources have changed since the last build.
 * @throws {Error} when the build fails
 */
export default function buildIfStale(): void {
  if (!isStale(inputs.map(inRoot), outputs.map(inRoot))) return;
  console.log('dist is older than the sources: npm run build');
  const { status } = spawnSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: 'inherit' });
  if (status !== 0) throw new Error('Cannot run the tests: npm run build failed');
}
