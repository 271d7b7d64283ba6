import { existsSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { maxReferences, maxReferencesEach, maxScannedFeatures } from '../../contract/shapes/code-scan.ts';
import type { Api, Item } from '../api.ts';
import type { Given } from '../command.ts';
import type { Context } from '../context.ts';
import { printable } from '../show.ts';
import { CodeOwners, codeOwnersPlaces } from './code-owners.ts';
import type { Named } from './scan.ts';
import { readText } from './source-files.ts';

/** The top of the repository of a directory; the directory itself without one. */
export function repositoryTop(directory: string): string {
  const start = resolve(directory);
  for (let at = start; ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at;
    if (dirname(at) === at) return start;
  }
}

/**
 * Uploads the places of features in the code of a repository, with the owners of the files.
 * @param top the top of the repository, to which the paths are relative
 * @throws {Failure} if the server refuses
 */
export async function uploadScan(
  { api, context, given }: { readonly api: Api; readonly context: Context; readonly given: Given },
  application: string,
  top: string,
  { named, files }: { readonly named: readonly Named[]; readonly files: number },
): Promise<void> {
  const owners = codeOwnersIn(top);
  const repository = given.value('repository') ?? basename(top);
  const body = {
    ...optional(given, 'revision'),
    ...optional(given, 'link'),
    files,
    features: bounded(named).map(({ name, count, places }) => ({
      name,
      count,
      references: places.map(({ file, line }) => ({ path: file, line, owners: owners?.of(file) ?? [] })),
    })),
  };
  const path = ['applications', application, 'code-scans', repository];
  const scan = (await api.call('PUT', path, body)) as Item;
  const without = owners === undefined ? '; there is no CODEOWNERS' : '';
  context.err(printable(`Uploaded the places of ${scan['features']} features in ${repository}${without}`));
  context.err('\n');
}

function optional(given: Given, name: string): Record<string, string> {
  const value = given.value(name);
  return value === undefined ? {} : { [name]: value };
}

function codeOwnersIn(top: string): CodeOwners | undefined {
  for (const place of codeOwnersPlaces) {
    const text = readText(join(top, place));
    if (text !== undefined) return new CodeOwners(text);
  }
  return undefined;
}

/** As many references as the server accepts: fewer for each feature, before a feature has none. */
function bounded(named: readonly Named[]): readonly Named[] {
  const kept = named.slice(0, maxScannedFeatures);
  let each = maxReferencesEach;
  const total = () => kept.reduce((sum, { places }) => sum + Math.min(places.length, each), 0);
  while (total() > maxReferences) each -= 1;
  return kept.map((feature) => ({ ...feature, places: feature.places.slice(0, each) }));
}
