import { nearest } from '../../contract/nearest.ts';
import { NameFinder, type Occurrence } from './names-in-text.ts';
import type { SourceFile } from './source-files.ts';

/** A feature as the server lists it. */
export interface KnownFeature {
  readonly name: string;
  readonly declared: boolean;
  readonly archived: boolean;
  readonly lastSeenAt: string | null;
}

/** A place in the code; lines and columns begin at 1. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/**
 * `never_seen`: the code asks for it, but no packet and no report has named it.
 * `not_in_code`: packets or reports have named it, and it is not archived, but it is nowhere in the code.
 */
export type FindingKind = 'never_seen' | 'not_in_code';

/** One thing that the code and what was seen do not agree on. */
export interface Finding {
  readonly kind: FindingKind;
  readonly name: string;
  readonly declared: boolean;
  readonly lastSeenAt: string | null;
  /** For a name that the server does not know: the one that is most like it. */
  readonly nearest: string | null;
  /** The first places. */
  readonly places: readonly Place[];
  /** How many places there are. */
  readonly count: number;
}

/** Places of a name that are kept. */
const maxPlaces = 5;

/** Names that calls ask for and the server does not know: more than that is no code. */
const maxUnknown = 10_000;

interface Found {
  readonly places: Place[];
  count: number;
  /** Whether it stands there as a text, not just as a word. */
  isText: boolean;
}

/** What a scan came to. */
export interface Scanned {
  readonly findings: readonly Finding[];
  /** How many of the features that were seen are in the code. */
  readonly inCode: number;
}

/** Compares what files name with what is known. Only names and their first places are kept. */
export function scan(
  files: Iterable<SourceFile>,
  features: readonly KnownFeature[],
  calls: readonly string[],
): Scanned {
  const known = new Map(features.map((feature) => [feature.name, feature]));
  const found = collect(files, new Set(known.keys()), new Set(calls));
  const neverSeen = [...found].filter(
    ([name, { isText }]) => isText && (known.get(name)?.lastSeenAt ?? null) === null,
  );
  const seen = features.filter(({ lastSeenAt }) => lastSeenAt !== null);
  const names = [...known.keys()];
  const findings = [
    ...neverSeen.map(([name, { places, count }]) => ({
      ...{
        kind: 'never_seen' as const,
        name,
        declared: known.get(name)?.declared ?? false,
        lastSeenAt: null,
      },
      ...{ nearest: known.has(name) ? null : (nearest(name, names) ?? null), places, count },
    })),
    ...seen
      .filter(({ name, archived }) => !archived && !found.has(name))
      .map(({ name, declared, lastSeenAt }) => ({
        ...{ kind: 'not_in_code' as const, name, declared, lastSeenAt, nearest: null, places: [], count: 0 },
      })),
  ];
  return {
    findings: findings.sort((a, b) => order(a.kind, b.kind) || order(a.name, b.name)),
    inCode: seen.filter(({ name }) => found.has(name)).length,
  };
}

function order(a: string, b: string): number {
  return Number(a > b) - Number(a < b);
}

function collect(
  files: Iterable<SourceFile>,
  known: ReadonlySet<string>,
  calls: ReadonlySet<string>,
): ReadonlyMap<string, Found> {
  const finder = new NameFinder(known, calls);
  const found = new Map<string, Found>();
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

/** What is found in a text, each place of a name once. */
function inOrder(occurrences: Iterable<Occurrence>): Occurrence[] {
  const sorted = [...occurrences].sort((a, b) => a.index - b.index || order(a.name, b.name));
  return sorted.filter(({ index, name }, at) => {
    const before = sorted[at - 1];
    return before?.index !== index || before.name !== name;
  });
}

function add(found: Map<string, Found>, { name, index, as }: Occurrence, file: string, lines: Lines): void {
  const entry = found.get(name) ?? { places: [], count: 0, isText: false };
  found.set(name, entry);
  entry.count += 1;
  entry.isText ||= as !== 'word';
  if (entry.places.length < maxPlaces) entry.places.push({ file, ...lines.at(index) });
}

/** The lines of a text, from its beginning on. */
class Lines {
  readonly #text: string;
  #line = 1;
  #start = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** @param index not before that of the last time */
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
