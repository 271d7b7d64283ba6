import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Packed } from './stage.ts';

/** The files of the Helm chart, with the version that is packaged. */
export function filesOfChart(root: string, version: string): readonly Packed[] {
  const folder = join(root, 'packaging/chart');
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
    .sort()
    .map((path) => ({ path, content: versioned(path, readFileSync(join(folder, path), 'utf8'), version) }));
}

function versioned(path: string, text: string, version: string): string {
  return path === 'Chart.yaml' ? text.replaceAll(/^(version|appVersion): .*$/gm, `$1: ${version}`) : text;
}
