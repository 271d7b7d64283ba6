import { mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { isStale } from '../../scripts/test/stale.ts';
import { temporaryDirectory } from '../support/temporary.ts';

describe('a build', () => {
  let inputs: string[];
  let outputs: string[];
  let source: string;
  let folder: string;

  const changed = (path: string, second: number) => utimesSync(path, second, second);

  beforeEach(() => {
    const root = temporaryDirectory();
    folder = join(root, 'src/deep');
    mkdirSync(folder, { recursive: true });
    source = join(folder, 'a.ts');
    outputs = [join(root, 'main.js'), join(root, 'console.json')];
    inputs = [join(root, 'src')];
    for (const path of [source, ...outputs]) writeFileSync(path, '');
    for (const path of [source, folder, join(root, 'src')]) changed(path, 1000);
    for (const path of outputs) changed(path, 2000);
  });

  it('a build is fresh while every output is newer than every input', () => {
    expect(isStale(inputs, outputs)).toBe(false);
  });

  it('a build is stale when a file in a folder is newer than the oldest output', () => {
    changed(outputs[0]!, 4000);
    changed(source, 3000);
    expect(isStale(inputs, outputs)).toBe(true);
  });

  it('a build is stale when a file was deleted', () => {
    rmSync(source);
    changed(folder, 3000);
    expect(isStale(inputs, outputs)).toBe(true);
  });

  it('a build is stale when an output is missing', () => {
    rmSync(outputs[1]!);
    expect(isStale(inputs, outputs)).toBe(true);
  });
});
