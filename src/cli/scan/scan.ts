import { nearest } from '../../contract/nearest.ts';
import { maxReferencesEach } from '../../contract/shapes/code-scan.ts';
import type { VerdictKind } from '../../contract/verdicts.ts';
import { NameFinder, type Occurrence } from './names-in-text.ts';
import type { SourceFile } from './source-files.ts';

/** A feature as the server lists it. */
export interface KnownFeature {
  readonly name: string;
  readonly declared: boolean;
  readonly archived: boolean;
  readonly lastSeenAt: string | null;
  readonly verdict: VerdictKind | null;
}

/** A place in the code. Lines and columns are counted from 1. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/**
 * `never_seen`: in the code, but in no packet or report.
 * `not_in_code`: in packets or reports and not archived, but not in the code.
 */
export type FindingKind = 'never_seen' | 'not_in_code';

export interface Finding {
  readonly kind: FindingKind;
  readonly name: string;
  readonly declared: boolean;
  readonly lastSeenAt: string | null;
  /** `null` for a name that the server does not know. */
  readonly verdict: VerdictKind | null;
  /** The most similar known name, for a name that the server does not know. */
  readonly nearest: string | null;
  /** The first places in the code. */
  readonly places: readonly Place[];
  readonly count: number;
}

/** Maximum number of places that are kept for a name, and maximum number of places that a finding shows. */
const maxPlaces = maxReferencesEach;
const maxShown = 5;

/** Maximum number of recorded names that the server does not know. Further names are ignored. */
const maxUnknown = 10_000;

interface NameMatches {
  readonly places: Place[];
  count: number;
  /** True if the name occurs in quotes or in a call, not only as a word. */
  isText: boolean;
}

export interface ScanResult {
  readonly findings: readonly Finding[];
  /** Number of features that were in packets or reports and are in the code. */
  readonly inCode: number;
  /** The known features that occur in the code, with their places. */
  readonly named: readonly CodeReferences[];
}

export interface CodeReferences {
  readonly name: string;
  /** The first places of the name in the code. */
  readonly places: readonly Place[];
  readonly count: number;
}

/** Compares the names in source files with the known features. Keeps only names and their first places in memory. */
export function scan(
  files: Iterable<SourceFile>,
  features: readonly KnownFeature[],
  calls: readonly string[],
): ScanResult {
  const known = new Map(features.map((feature) => [feature.name, feature]));
  const found = collect(files, new Set(known.keys()), new Set(calls));
  const names = [...known.keys()];
  const finding = (kind: FindingKind, name: string, { places, count }: Omit<NameMatches, 'isText'>): Finding => {
    const { declared = false, lastSeenAt = null, verdict = null } = known.get(name) ?? {};
    const similar = known.has(name) ? null : (nearest(name, names) ?? null);
    const shown = { places: places.slice(0, maxShown), count };
    return { kind, name, declared, lastSeenAt, verdict, nearest: similar, ...shown };
  };
  const seen = features.filter(({ lastSeenAt }) => lastSeenAt !== null);
  const neverSeen = [...found].filter(([name, { isText }]) => isText && !known.get(name)?.lastSeenAt);
  const missing = seen.filter(({ name, archived }) => !archived && !found.has(name));
  const findings = [
    ...neverSeen.map(([name, each]) => finding('never_seen', name, each)),
    ...missing.map(({ name }) => finding('not_in_code', name, { places: [], count: 0 })),
  ];
  return {
    findings: findings.sort((a, b) => order(a.kind, b.kind) || order(a.name, b.name)),
    inCode: seen.filter(({ name }) => found.has(name)).length,
    named: Array.from(found, ([name, { places, count }]) => ({ name, places, count }))
      .filter(({ name }) => known.has(name))
      .sort((a, b) => order(a.name, b.name)),
  };
}

function order(a: string, b: string): number {
  return Number(a > b) - Number(a < b);
}

function collect(
  files: Iterable<SourceFile>,
  known: ReadonlySet<string>,
  calls: ReadonlySet<string>,
): ReadonlyMap<string, NameMatches> {
  const finder = new NameFinder(known, calls);
  const found = new Map<string, NameMatches>();
  let unknown = 0;
  for (const { path, text } of files) {
    const lines = new Lines(text);
    for (const occurrence of inOrder(finder.in(text))) {
      const { name } = occurrence;
      if (!found.has(name) && !known.has(name)) unknown += 1;
      if (unknown > maxUnknown && !found.has(name) && !known.has(name)) continue;
      add(found, occurrence, path, lines);
    }
  }
  return found;
}

/** Returns the occurrences in a text, sorted by position. A name that was found twice at one position is kept once. */
function inOrder(occurrences: Iterable<Occurrence>): Occurrence[] {
  const sorted = [...occurrences].sort((a, b) => a.index - b.index || order(a.name, b.name));
  return sorted.filter(({ index, name }, at) => {
    const before = sorted[at - 1];
    return before?.index !== index || before.name !== name;
  });
}

function add(found: Map<string, NameMatches>, { name, index, as }: Occurrence, file: string, lines: Lines): void {
  const entry = found.get(name) ?? { places: [], count: 0, isText: false };
  found.set(name, entry);
  entry.count += 1;
  entry.isText ||= as !== 'word';
  if (entry.places.length < maxPlaces) entry.places.push({ file, ...lines.at(index) });
}

/** Computes lines and columns of positions in a text, from its beginning to its end. */
class Lines {
  readonly #text: string;
  #line = 1;
  #start = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** @param index must not be less than in the previous call */
  at(index: number): { line: number; column: number } {
    for (let end = this.#end(); end >= 0 && end < index; end = this.#end()) {
      this.#line += 1;
      this.#start = end + 1;
    }
    return { line: this.#line, column: index - this.#start + 1 };
  }

  #end(): number {
    return this.#text.indexOf('\n', this.#start);
  }
}
