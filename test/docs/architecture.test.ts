import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { house, read, root } from '../support/sources.ts';

const text = readFileSync(join(root, 'docs/architecture.md'), 'utf8');
const src = read('src', /\.tsx?$/);

describe('docs/architecture.md', () => {
  it('docs/architecture.md refers only to functions, classes and constants that exist in their files', () => {
    const steps = Array.from(text.matchAll(/(src\/[\w./-]+\.ts)`?: `?(\w+)/g), ([, file, name]) => ({ file, name }));
    expect(steps.length).toBeGreaterThan(15);
    const missing = steps.filter(({ file, name }) => {
      const lines = src.find(({ path }) => path === file)?.lines ?? [];
      return !lines.some((line) => new RegExp(`\\b${name}\\b`).test(line));
    });
    expect(missing).toEqual([]);
  });

  it('docs/architecture.md describes the path of a packet to its commit and back in at most fifteen files', () => {
    const [, path = ''] = /## The path of a packet\n\n```\n(.*?)```/s.exec(text) ?? [];
    const files = new Set(path.match(/src\/[\w./-]+\.ts/g));
    expect(files.size).toBeGreaterThan(10);
    expect(files.size).toBeLessThanOrEqual(15);
  });

  it('docs/architecture.md describes each folder of src', () => {
    const rows = Array.from(text.matchAll(/^\| `(src\/[\w-]+)` \|/gm), ([, folder]) => folder);
    const folders = house.map((folder) => folder.split('/').slice(0, 2).join('/'));
    expect(rows).toEqual([...new Set(folders)].filter((folder) => !folder.endsWith('.ts')));
  });
});
