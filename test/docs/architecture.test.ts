import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { folderOf, house, importsOfSrc, read, root } from '../support/sources.ts';

const text = readFileSync(join(root, 'docs/architecture.md'), 'utf8');
const src = read('src', /\.tsx?$/);

/** The rows of the table of folders. */
const rows = Array.from(
  text.matchAll(/^\| `(src[\w./-]*)` \| [^|]+ \| ([^|]*) \|$/gm),
  ([, folder, cell]) => ({
    folder: folder!,
    imports: Array.from(cell!.matchAll(/`([\w.-]+)`/g), ([, name]) => `src/${name}`),
  }),
);

describe('docs/architecture.md', () => {
  it('names functions, classes and constants that their files have', () => {
    const steps = Array.from(text.matchAll(/(src\/[\w./-]+\.ts)`?: `?(\w+)/g), ([, file, name]) => ({
      file,
      name,
    }));
    expect(steps.length).toBeGreaterThan(15);
    const missing = steps.filter(({ file, name }) => {
      const lines = src.find(({ path }) => path === file)?.lines ?? [];
      return !lines.some((line) => new RegExp(`\\b${name}\\b`).test(line));
    });
    expect(missing).toEqual([]);
  });

  it('describes the path of a packet to its commit and back in at most fifteen files', () => {
    const [, way = ''] = /## The way of a packet\n\n```\n(.*?)```/s.exec(text) ?? [];
    const files = new Set(way.match(/src\/[\w./-]+\.ts/g));
    expect(files.size).toBeGreaterThan(10);
    expect(files.size).toBeLessThanOrEqual(15);
  });

  it('lists the folders from the top down', () => {
    const folders = house.filter((folder) => src.some(({ path }) => folderOf(path) === folder));
    expect(rows.map(({ folder }) => folder)).toEqual(folders.filter((folder) => folder !== 'src/main.ts'));
  });

  it.each(rows)('says what $folder imports', ({ folder, imports }) => {
    const found = importsOfSrc(src)
      .filter(({ path, target }) => folderOf(path) === folder && folderOf(target) !== folder)
      .map(({ target }) => folderOf(target))
      .filter((target) => target !== 'src');
    const order = (folders: readonly string[]) => house.filter((each) => folders.includes(each));
    expect(imports).toEqual(order(found));
  });
});
