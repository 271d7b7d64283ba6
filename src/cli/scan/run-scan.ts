import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { describeFileError } from '../../contract/file-errors.ts';
import { maxReferences, maxReferencesEach, maxScannedFeatures } from '../../contract/shapes/code-scan.ts';
import { option } from '../../contract/shapes/option.ts';
import { silenceOnly, verdictKinds, verdictWord } from '../../contract/verdicts.ts';
import { type Api, connect, type Item } from '../api.ts';
import { resolveApplication } from '../application.ts';
import { clientCommand } from '../client-command.ts';
import type { Arguments } from '../command.ts';
import { appOption, jsonOption, urlOption } from '../common-options.ts';
import type { Context } from '../context.ts';
import { Failure } from '../failure.ts';
import { UsageError } from '../options.ts';
import { printJson, printTable } from '../print.ts';
import { printable } from '../show.ts';
import { CodeOwners, codeOwnersPlaces } from './code-owners.ts';
import { usualCalls } from './names-in-text.ts';
import { createSarif } from './sarif.ts';
import { type CodeReferences, type Finding, type KnownFeature, type ScanResult, scan } from './scan.ts';
import { type FileCounts, newCounts, readText, sourceFiles } from './source-files.ts';

export const scanCode = clientCommand({
  name: 'features scan',
  summary: 'Compare the names in a source tree with the features that were seen',
  examples: [
    'features scan . --app Shop',
    `features scan . --app Shop --upload --repository "$REPOSITORY" --revision "$SHA" --link 'https://github.com/{OWNER}/{REPO}/blob/{revision}/{path}#L{line}'`,
  ],
  operand: { name: 'DIR', description: 'Directory with the code' },
  options: [
    option('call NAME', 'Function whose first argument is a feature name; repeatable', {
      many: true,
      more: 'default: functions of common SDKs, which are always included',
    }),
    option('fail-if-any', 'Exit with code 8 if anything is found'),
    option('upload', 'Upload the places of features, with the owners from CODEOWNERS'),
    option('repository NAME', 'Name of the repository in the upload', { more: 'default: the name of its directory' }),
    option('revision SHA', 'Scanned commit in the upload'),
    option('link URL', 'Address of a line at the code host, with {revision}, {path} and {line}'),
    option('sarif', 'Print SARIF 2.1.0, for code hosts and editors', { excludes: ['json'] }),
    ...[appOption, urlOption, jsonOption],
  ],
  run: runScan,
});

/**
 * @throws {UsageError} for wrong arguments
 * @throws {Failure} if the server refuses, or with `--fail-if-any` if anything is found
 */
async function runScan(given: Arguments, context: Context): Promise<number> {
  checkDirectory(given.operand);
  const api = connect(context, given);
  const { id } = await resolveApplication(context, api, given);
  const features = (await api.list(['applications', String(id), 'features'])).map(readFeature);
  const counts = newCounts();
  const calls = [...usualCalls, ...given.all('call')];
  const top = given.has('upload') ? repositoryTop(given.operand) : undefined;
  const files = sourceFiles(resolve(given.operand), counts, top);
  const { named, ...scanned } = scan(files, features, calls);
  if (given.has('sarif')) printJson(context, createSarif(scanned.findings));
  else if (given.has('json')) printJson(context, { ...scanned, ...counts });
  else print(context, scanned, counts);
  if (top !== undefined) await uploadScan({ api, context, given }, String(id), top, { named, files: counts.files });
  if (given.has('fail-if-any') && scanned.findings.length > 0)
    throw new Failure('found', summarizeFindings(scanned.findings));
  return 0;
}

function checkDirectory(path: string): void {
  try {
    readdirSync(path);
  } catch (error) {
    throw new UsageError(`Cannot scan ${path}: ${describeFileError(error)}; name a directory`);
  }
}

/** Formats the number of findings, including the number about features that were never seen. */
function summarizeFindings(findings: readonly Finding[]): string {
  const { length } = findings;
  const said = length === 1 ? 'There is 1 finding' : `There are ${length} findings`;
  const silent = findings.filter(({ kind }) => kind === 'never_seen').length;
  return silent === 0 ? said : `${said}. Never seen: ${silent}. ${silenceOnly}`;
}

function readFeature({ name, declared, archived, lastSeenAt, verdict }: Item): KnownFeature {
  const seen = typeof lastSeenAt === 'string' ? lastSeenAt : null;
  const kind = verdictKinds.find((each) => each === verdict) ?? null;
  return {
    name: String(name),
    declared: declared === true,
    archived: archived === true,
    lastSeenAt: seen,
    verdict: kind,
  };
}

const columns = {
  kind: { label: 'Finding', of: ({ kind }: Item) => (kind === 'never_seen' ? 'never seen' : 'not in the code') },
  name: { label: 'Name', cut: 'last' },
  where: { label: 'Where', cut: true },
  lastSeenAt: 'Last seen',
  verdict: { label: 'Verdict', state: true, of: ({ verdict }: Item) => verdictWord(verdict) },
  nearest: { label: 'Nearest', cut: true },
} as const;

function print(context: Context, { findings, inCode }: Omit<ScanResult, 'named'>, counts: FileCounts): void {
  if (findings.length > 0) printTable(context, columns, findings.map(createRow));
  const { files, binary, large, unreadable, ignoreFiles, dependencies } = counts;
  const parts = [
    binary > 0 && `${binary} binary`,
    large > 0 && `${large} over 1 MiB`,
    unreadable > 0 && `${unreadable} unreadable`,
    ignoreFiles > 0 && `${ignoreFiles} .gitignore`,
    dependencies > 0 && `${dependencies} ${dependencies === 1 ? 'directory' : 'directories'} with dependencies`,
  ].filter(Boolean);
  const skipped = parts.length === 0 ? '' : `, skipped ${new Intl.ListFormat('en-GB').format(parts as string[])}`;
  context.err(`Read ${files} files${skipped}; found ${inCode} of the seen features in the code\n`);
}

function createRow(finding: Finding): Item {
  const [first] = finding.places;
  const more = finding.count > 1 ? ` and ${finding.count - 1} more` : '';
  return { ...finding, where: first === undefined ? null : `${first.file}:${first.line}${more}` };
}

/** Returns the top of the repository of a directory; outside a repository, the directory itself. */
function repositoryTop(directory: string): string {
  const start = resolve(directory);
  for (let at = start; ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at;
    if (dirname(at) === at) return start;
  }
}

/**
 * Uploads the places in a repository's code that use features, with the owners of the files.
 * @param top directory of the repository, to which the paths are relative
 * @throws {Failure} if the server refuses
 */
async function uploadScan(
  { api, context, given }: { readonly api: Api; readonly context: Context; readonly given: Arguments },
  application: string,
  top: string,
  { named, files }: { readonly named: readonly CodeReferences[]; readonly files: number },
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
  const without = owners === undefined ? '; no CODEOWNERS file found' : '';
  context.err(printable(`Uploaded the places of ${scan['features']} features in ${repository}${without}`));
  context.err('\n');
}

function optional(given: Arguments, name: string): Record<string, string> {
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

/** Limits references to the number that the server accepts. At least some references of each feature are kept. */
function bounded(named: readonly CodeReferences[]): readonly CodeReferences[] {
  const kept = named.slice(0, maxScannedFeatures);
  let each = maxReferencesEach;
  const total = () => kept.reduce((sum, { places }) => sum + Math.min(places.length, each), 0);
  while (total() > maxReferences) each -= 1;
  return kept.map((feature) => ({ ...feature, places: feature.places.slice(0, each) }));
}
