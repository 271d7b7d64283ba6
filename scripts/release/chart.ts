import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { settings } from '../../src/contract/config-schema.ts';
import type { PackageFile } from './tar.ts';

/** Settings that the templates of the chart set. Users cannot set them. */
const ofTheChart: ReadonlySet<string> = new Set([
  'config',
  'data',
  'postgres',
  'postgresFile',
  'postgresKeyFile',
  'existing',
  'grpcListen',
  'listen',
  'opsListen',
]);

/** Returns the files of the Helm chart, with the version of the package. */
export function filesOfChart(root: string, version: string): readonly PackageFile[] {
  const folder = join(root, 'packaging/chart');
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
    .sort()
    .map((path) => ({ path, content: finished(path, readFileSync(join(folder, path), 'utf8'), version) }));
}

function finished(path: string, text: string, version: string): string {
  if (path === 'Chart.yaml') return text.replaceAll(/^(version|appVersion): .*$/gm, `$1: ${version}`);
  return path === 'values.schema.json' ? withSettings(text) : text;
}

/** Adds the settings to the schema of the values, so that the installation rejects unknown settings. */
function withSettings(text: string): string {
  const schema = JSON.parse(text);
  const names = settings.filter(({ key }) => !ofTheChart.has(key)).flatMap(({ key, option }) => [key, option]);
  schema.properties.config.propertyNames = { enum: [...new Set(names)].sort() };
  return `${JSON.stringify(schema, undefined, 2)}\n`;
}
