import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import own from '../../clients/openfeature/package.json' with { type: 'json' };
import root from '../../package.json' with { type: 'json' };

const folder = join(import.meta.dirname, '../../clients/openfeature');

describe('the package for OpenFeature', () => {
  it('the script for web pages has at most 3072 gzipped bytes, and loads no other file', () => {
    const script = readFileSync(join(folder, 'dist/web.js'), 'utf8');
    const { length } = gzipSync(script, { level: 9 });
    console.log(`clients/openfeature/dist/web.js: ${length} bytes gzipped`);
    expect(length).toBeLessThanOrEqual(3072);
    // Bundlers would treat `new URL('.', import.meta.url)` as the URL of an asset.
    expect(script).not.toMatch(/\bimport\b/);
  });

  it('the package has the same version as the server', () => {
    expect(own.version).toBe(root.version);
  });

  it('the package contains its entry points, their types, its README and its licence', () => {
    const args = ['pack', '--dry-run', '--json', '--ignore-scripts', folder];
    const [{ files }] = JSON.parse(execFileSync('npm', args, { encoding: 'utf8' }));
    const modules = ['declarations.d.ts', 'evaluations.d.ts', 'server.d.ts', 'server.js', 'web.d.ts', 'web.js'];
    expect(files.map(({ path }: { path: string }) => path).sort()).toEqual([
      ...['README.md', 'dist/LICENSE', ...modules.map((name) => `dist/${name}`), 'package.json'],
    ]);
  });
});
