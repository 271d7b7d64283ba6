import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { beforeAll, expect, test, vi } from 'vitest';
import { binaryPath, freshDirectory, startBinary, stop } from '../support/binary.ts';

/*
 * Modules that the server loads at startup cost time and memory in every installation. If few installations need a
 * module, load it on first use with `import()`. If every installation needs it, run `npx vitest run --project system
 * test/binary/startup-modules.test.ts -u`.
 */

/** Bytes of each loaded module, by its path. */
let loaded: ReadonlyMap<string, number>;

beforeAll(async () => {
  const found = join(freshDirectory(), 'loaded.json');
  const preload = join(freshDirectory(), 'preload.cjs');
  // Bun lists all loaded modules in `require.cache`. A second after startup, background work has begun, too.
  writeFileSync(
    preload,
    `const list = () => JSON.stringify(Object.keys(require.cache));
setTimeout(() => require('node:fs').writeFileSync(${JSON.stringify(found)}, list()), 1000);`,
  );
  const server = await startBinary({ env: { BUN_OPTIONS: `--preload ${preload}` } });
  await vi.waitFor(() => expect(readFileSync(found, 'utf8')).toMatch(/]$/));
  await stop(server);
  const contents = JSON.parse(readFileSync(`${binaryPath}.modules.json`, 'utf8'));
  const files = new Set<string>(JSON.parse(readFileSync(found, 'utf8')).map((path: string) => basename(path)));
  // The file of the program itself has the name of the executable.
  files.delete(basename(binaryPath));
  const modules = ['src/main.js', ...Object.keys(contents).filter((name) => files.has(basename(name)))];
  loaded = new Map(modules.flatMap((file) => Object.entries<number>(contents[file] ?? {})));
});

const findPackage = (path: string) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1];

test('the server loads only the listed packages and modules at startup', async () => {
  const packages = new Map<string, number>();
  const own: string[] = [];
  for (const [path, bytes] of loaded) {
    const name = findPackage(path);
    if (name !== undefined) packages.set(name, (packages.get(name) ?? 0) + bytes);
    else if (path.startsWith('src/')) own.push(path);
  }
  const rounded = [...packages].map(([name, bytes]) => `${name} ${10 * Math.ceil(bytes / 10_000)} kB`);
  const text = [...rounded.sort(), ...own.sort()].map((line) => `${line}\n`).join('');
  await expect(text).toMatchFileSnapshot('startup-modules.txt');
});

test('the modules that the server loads at startup have a limited total size', () => {
  const bytes = [...loaded.values()].reduce((sum, each) => sum + each, 0);
  expect(bytes).toBeLessThan(1_500_000);
  expect(bytes).toBeGreaterThan(500_000);
});
