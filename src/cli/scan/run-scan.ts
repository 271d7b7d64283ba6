import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { flag } from '../../contract/shapes/option.ts';
import { silenceOnly, verdictKinds, verdictWord } from '../../contract/verdicts.ts';
import { connect, type Item } from '../api.ts';
import { clientCommand } from '../client-command.ts';
import type { Given } from '../command.ts';
import { appFlag, jsonFlag, urlFlag } from '../common-flags.ts';
import type { Context } from '../context.ts';
import { Failure } from '../failure.ts';
import { findApplication } from '../find.ts';
import { UsageError } from '../flags.ts';
import { printJson, printTable } from '../print.ts';
import { usualCalls } from './names-in-text.ts';
import { sarifOf } from './sarif.ts';
import { type Finding, type KnownFeature, type Scanned, scan } from './scan.ts';
import { type FileCounts, sourceFiles } from './source-files.ts';
import { repositoryTop, uploadScan } from './upload-scan.ts';

export const scanCode = clientCommand({
  name: 'features scan',
  summary: 'Compare the names in a source tree with the features that were seen',
  operand: { name: 'DIR', description: 'Directory with the code' },
  flags: [
    flag('call NAME', 'Function whose first argument is a feature name; repeatable', {
      many: true,
      more: 'default: those of common SDKs, which are always included',
    }),
    flag('fail-if-any', 'Exit with 8 if anything is found'),
    flag('upload', 'Upload the places of features, with their owners by CODEOWNERS'),
    flag('repository NAME', 'Name of the repository in the upload', {
      more: 'default: the name of its directory',
    }),
    flag('revision SHA', 'Scanned commit in the upload'),
    flag('link URL', 'Address of a line at the code host, with {revision}, {path} and {line}'),
    flag('sarif', 'Print SARIF 2.1.0, for code hosts and editors', { excludes: ['json'] }),
    ...[appFlag, urlFlag, jsonFlag],
  ],
  run: runScan,
});

/**
 * Scans a source tree.
 * @throws {UsageError} for wrong arguments
 * @throws {Failure} if the server refuses, or with `--fail-if-any` if anything is found
 */
async function runScan(given: Given, context: Context): Promise<number> {
  checkDirectory(given.operand);
  const api = connect(context, given);
  const { id } = await findApplication(api, given.value('app') ?? '');
  const features = (await api.list(['applications', String(id), 'features'])).map(featureOf);
  const counts: FileCounts = { files: 0, bytes: 0, binary: 0, large: 0, unreadable: 0, ignoreFiles: 0 };
  const calls = [...usualCalls, ...given.all('call')];
  const top = given.has('upload') ? repositoryTop(given.operand) : undefined;
  const files = sourceFiles(resolve(given.operand), counts, top);
  const { named, ...scanned } = scan(files, features, calls);
  if (given.has('sarif')) printJson(context, sarifOf(scanned.findings));
  else if (given.has('json')) printJson(context, { ...scanned, ...counts });
  else print(context, scanned, counts);
  if (top !== undefined)
    await uploadScan({ api, context, given }, String(id), top, { named, files: counts.files });
  if (given.has('fail-if-any') && scanned.findings.length > 0)
    throw new Failure('found', summaryOf(scanned.findings));
  return 0;
}

function checkDirectory(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  throw new UsageError(`Cannot scan ${path}: not a directory`);
}

/** The number of findings, and how many of them rest on silence alone. */
function summaryOf(findings: readonly Finding[]): string {
  const { length } = findings;
  const said = length === 1 ? 'There is 1 finding' : `There are ${length} findings`;
  const silent = findings.filter(({ kind }) => kind === 'never_seen').length;
  return silent === 0 ? said : `${said}. Never seen: ${silent}. ${silenceOnly}`;
}

function featureOf({ name, declared, archived, lastSeenAt, verdict }: Item): KnownFeature {
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
  kind: {
    label: 'Finding',
    of: ({ kind }: Item) => (kind === 'never_seen' ? 'never seen' : 'not in the code'),
  },
  name: { label: 'Name', cut: true },
  where: { label: 'Where', cut: true },
  lastSeenAt: 'Last seen',
  verdict: { label: 'Verdict', of: ({ verdict }: Item) => verdictWord(verdict) },
  nearest: { label: 'Nearest', cut: true },
} as const;

function print(context: Context, { findings, inCode }: Omit<Scanned, 'named'>, counts: FileCounts): void {
  if (findings.length > 0) printTable(context, columns, findings.map(rowOf));
  const { files, binary, large, unreadable, ignoreFiles } = counts;
  const parts = [
    binary > 0 && `${binary} binary`,
    large > 0 && `${large} over 1 MiB`,
    unreadable > 0 && `${unreadable} unreadable`,
    ignoreFiles > 0 && `${ignoreFiles} .gitignore`,
  ].filter(Boolean);
  const skipped =
    parts.length === 0 ? '' : `, skipped ${new Intl.ListFormat('en-GB').format(parts as string[])}`;
  context.err(`Read ${files} files${skipped}; found ${inCode} of the seen features in the code\n`);
}

function rowOf(finding: Finding): Item {
  const [first] = finding.places;
  const more = finding.count > 1 ? ` and ${finding.count - 1} more` : '';
  return { ...finding, where: first === undefined ? null : `${first.file}:${first.line}${more}` };
}
