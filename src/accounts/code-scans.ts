import { Refusal } from '../contract/errors.ts';
import { maxReferences, maxScannedInAll, maxScans, type NewCodeScan } from '../contract/shapes/code-scan.ts';
import { increase } from '../runtime/counts.ts';
import type { Application, CodeScan } from '../storage/lmdb/records.ts';
import type { AccountTransaction } from './account-transaction.ts';
import { checkPathName, mustExist, tooMany } from './checks.ts';
import { declarationKey } from './declarations.ts';
import type { Directory } from './directory.ts';

export const tooManyScans = `${tooMany('repositories of an application', maxScans)}: delete the scan of a repository`;
const tooManyReferences = `\`features\` must have at most ${maxReferences} references`;
const tooManyScanned = `${tooMany('features in all code scans of an application', maxScannedInAll)}: delete the scan of a repository`;
const badLink =
  '`link` must be an http or https URL with {path}, such as https://github.com/org/repo/blob/{revision}/{path}#L{line}';
const linkWithoutRevision = '`link` with {revision} requires `revision`';

/** Maximum number of features remembered as missing from the code. */
const maxMissing = 2000;

/** @throws {Refusal} `not_found` (application), `invalid_name`, `invalid_body`, `conflict` if there are too many */
export function putScan(
  directory: Directory,
  applicationId: string,
  repository: string,
  given: NewCodeScan,
): Promise<CodeScan> {
  checkPathName('a repository', repository);
  checkScan(given);
  return directory.change((tx) => {
    const application = mustExist('application', tx.applications.get(applicationId));
    const scans = tx.getScans(applicationId);
    const before = scans.get(repository);
    if (before === undefined && scans.size >= maxScans) throw new Refusal('conflict', tooManyScans);
    const others = [...scans.values()].filter((scan) => scan !== before);
    const inAll = others.reduce((sum, { features }) => sum + features.length, given.features.length);
    if (inAll > maxScannedInAll) throw new Refusal('conflict', tooManyScanned);
    const at = directory.clock.now();
    const { revision = null, link = null, files } = given;
    const packed = pack(given);
    const scan: CodeScan = {
      applicationId,
      repository,
      revision,
      link,
      files,
      at,
      by: tx.actor.name,
      ...packed,
      missing: missingFrom(before, new Set(packed.features.map(([name]) => name)), at),
    };
    tx.put('codeScans', declarationKey(applicationId, repository), scan);
    tx.note('code-scan.uploaded', application.teamId, describeTarget(application, repository));
    return scan;
  });
}

/** @throws {Refusal} `not_found` */
export function deleteScan(directory: Directory, applicationId: string, repository: string): Promise<void> {
  return directory.change((tx) => {
    const application = mustExist('application', tx.applications.get(applicationId));
    mustExist('code scan', tx.getScans(applicationId).get(repository));
    tx.remove('codeScans', declarationKey(applicationId, repository));
    tx.note('code-scan.deleted', application.teamId, describeTarget(application, repository));
  });
}

export function removeScans(tx: AccountTransaction, applicationId: string): void {
  for (const repository of tx.getScans(applicationId).keys())
    tx.remove('codeScans', declarationKey(applicationId, repository));
}

function describeTarget({ id }: Application, repository: string) {
  return { type: 'code-scan', id, name: repository } as const;
}

function checkScan({ features, link, revision }: NewCodeScan): void {
  const references = features.reduce((sum, each) => sum + each.references.length, 0);
  if (references > maxReferences) throw new Refusal('invalid_body', tooManyReferences);
  if (link === undefined) return;
  if (!isLink(link)) throw new Refusal('invalid_body', badLink);
  if (revision === undefined && link.includes('{revision}')) throw new Refusal('invalid_body', linkWithoutRevision);
}

/** True if a link template is an `http:` or `https:` URL whose host does not depend on the path. */
function isLink(link: string): boolean {
  return (
    /^https?:\/\/[^\s/{}@\\]+\/\S*$/i.test(link) &&
    link.includes('{path}') &&
    URL.canParse(linkTo(link, 'r', { path: 'a/b', line: 1 }))
  );
}

export function linkTo(
  template: string,
  revision: string | null,
  { path, line }: { readonly path: string; readonly line: number },
): string {
  const values = {
    revision: encoded(revision ?? ''),
    path: path.split('/').map(encoded).join('/'),
    line: String(line),
  };
  return template.replace(/\{(revision|path|line)\}/g, (_, name: keyof typeof values) => values[name]);
}

/** Encodes a text for a URL. Half of a surrogate pair is valid in JSON, but cannot be encoded. */
function encoded(text: string): string {
  return encodeURIComponent(text.replace(/\p{Cs}/gu, '\ufffd'));
}

/** Converts a scan to its stored form, which contains the path of each file once. */
function pack({ features }: NewCodeScan): Pick<CodeScan, 'paths' | 'features'> {
  const numbers = new Map<string, number>();
  const paths: [string, readonly string[]][] = [];
  const addPath = (path: string, owners: readonly string[]) => {
    const known = numbers.get(path);
    if (known !== undefined) return known;
    numbers.set(path, paths.length);
    return paths.push([path, owners]) - 1;
  };
  const named = new Map(
    features.map(({ name, count, references }) => {
      const places = references.map(({ path, line, owners }) => [addPath(path, owners), line] as const);
      return [name, [name, count, places] as const];
    }),
  );
  return { paths, features: [...named.values()] };
}

/** Returns the features that only earlier scans found, with the time of the first scan without them. */
function missingFrom(before: CodeScan | undefined, found: ReadonlySet<string>, at: number): CodeScan['missing'] {
  const missing = [...(before?.missing ?? []), ...(before?.features ?? []).map(([name]) => [name, at] as const)];
  return missing.filter(([name]) => !found.has(name)).slice(-maxMissing);
}

interface ScannedFeature {
  readonly count: number;
  readonly places: readonly { readonly path: string; readonly line: number; readonly owners: readonly string[] }[];
  /** Owners of the feature's files. The owner of the most places comes first. */
  readonly owners: readonly string[];
}

const found = new WeakMap<CodeScan, ReadonlyMap<string, ScannedFeature>>();

export function foundIn(scan: CodeScan): ReadonlyMap<string, ScannedFeature> {
  const known = found.get(scan);
  if (known !== undefined) return known;
  const features = new Map(
    scan.features.map(([name, count, references]) => {
      const places = references.map(([file, line]) => {
        const [path = '', owners = []] = scan.paths[file] ?? [];
        return { path, line, owners };
      });
      return [name, { count, places, owners: byFrequency(places.flatMap(({ owners }) => owners)) }];
    }),
  );
  found.set(scan, features);
  return features;
}

function byFrequency(owners: readonly string[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const owner of owners) increase(counts, owner);
  return [...counts].sort(([, one], [, other]) => other - one).map(([owner]) => owner);
}

type CodeOwners = ReadonlyMap<string, readonly string[]>;

const merged = new WeakMap<CodeScan, { readonly scans: readonly CodeScan[]; readonly owners: CodeOwners }>();

/** Returns the owners of an application's features according to CODEOWNERS, from all scans of the application. */
export function codeOwnersIn(scans: readonly CodeScan[]): CodeOwners {
  const [first] = scans;
  if (first === undefined) return new Map();
  const known = merged.get(first);
  if (known?.scans.length === scans.length && known.scans.every((scan, at) => scan === scans[at])) return known.owners;
  const owners = new Map<string, readonly string[]>();
  for (const scan of scans)
    for (const [name, found] of foundIn(scan))
      if (found.owners.length > 0) owners.set(name, [...new Set([...(owners.get(name) ?? []), ...found.owners])]);
  merged.set(first, { scans, owners });
  return owners;
}
