import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { freshDirectory } from '../support/binary.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const addOn = 'uWebSockets.js';

/** Creates a directory with the service for Node and its packages. `source` is the code that replaces the add-on. */
function withAddOn(source?: string): string {
  const directory = freshDirectory();
  cpSync(join(root, 'dist/node'), directory, { recursive: true });
  writeFileSync(join(directory, 'package.json'), '{"type":"module"}');
  const packages = join(directory, 'node_modules');
  mkdirSync(packages);
  for (const name of readdirSync(join(root, 'node_modules')).filter((each) => each !== addOn))
    symlinkSync(join(root, 'node_modules', name), join(packages, name));
  if (source !== undefined) {
    mkdirSync(join(packages, addOn));
    writeFileSync(join(packages, addOn, 'index.js'), source);
  }
  return directory;
}

describe('the service on Node', () => {
  it.each([
    ['is not installed', undefined, 'run "npm install uWebSockets.js@npm:uwebsockets", or use the executable'],
    [
      'has no add-on that loads here (Error: GLIBC_2.38 not found)',
      "throw new Error('Supports only Node 16\\n\\nError: GLIBC_2.38 not found\\nRequire stack:')",
      'install another release of uWebSockets.js, or use the executable',
    ],
  ])('the service on Node reports that uWebSockets.js %s, and changes nothing', (fault, source, remedy) => {
    const directory = withAddOn(source);
    const { status, stderr } = spawnSync(process.execPath, [join(directory, 'main.js'), 'serve'], {
      cwd: directory,
      encoding: 'utf8',
    });
    expect(stderr).toBe(`Cannot serve HTTP on Node ${process.version}: uWebSockets.js ${fault}; ${remedy}\n`);
    expect(status).toBe(1);
    expect(readdirSync(directory)).not.toContain('flagmeter-data');
  });
});
