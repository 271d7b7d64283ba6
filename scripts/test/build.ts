/**
 * `bun scripts/test/build.ts`: builds the files that the tests run, if the sources have changed since the last build.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { isStale } from './stale.ts';

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
 * Builds if necessary. If two test runs start at the same time, the second run waits for the build of the first run.
 * @returns the exit code
 */
export function buildIfStale(): number {
  if (!isStale(inputs.map(inRoot), outputs.map(inRoot))) return 0;
  mkdirSync(inRoot('dist'), { recursive: true });
  const args = ['dist/.lock', join(root, 'node_modules/.bin/bun'), import.meta.filename, '--locked'];
  return spawnSync('flock', args, { cwd: root, stdio: 'inherit' }).status ?? 1;
}

function build(): number {
  if (!isStale(inputs.map(inRoot), outputs.map(inRoot))) return 0;
  console.log('dist is older than the sources: npm run build');
  return spawnSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: 'inherit' }).status ?? 1;
}

if (import.meta.filename === process.argv[1])
  process.exitCode = process.argv.includes('--locked') ? build() : buildIfStale();
