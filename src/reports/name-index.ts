import { surplusName } from '../contract/names.ts';
import { byRank, rankName } from '../contract/search-rank.ts';
import { listSeries } from '../storage/lmdb/series.ts';
import { fromSnapshot, type Reading, type Snapshot } from '../storage/lmdb/snapshot.ts';
import type { UsageTables } from '../storage/lmdb/usage.ts';

export interface NamesTask {
  /** Search words in lower case. */
  readonly words: readonly string[];
  /** Applications to search, the most important first. */
  readonly applications: readonly {
    readonly number: number;
    /** The numbers of its environments. */
    readonly environments: readonly number[];
  }[];
  readonly limit: number;
}

interface FoundName {
  /** Number of the application. */
  readonly application: number;
  readonly name: string;
  readonly rank: number;
}

interface FoundNames {
  readonly found: readonly FoundName[];
  /** True if the index has all names. If not, a repeated search finds more. */
  readonly complete: boolean;
}

/** Maximum number of series that one search adds to the index. */
const maxReadAtOnce = 200_000;
/**
 * Maximum number of names that one search compares. `all` is divided among the applications, but each application gets
 * at least `each`.
 */
const maxCompared = { all: 50_000, each: 200 };
/** Number of series or names between two pauses. */
const stride = 1000;
/** Maximum number of applications in the index. */
const maxApplications = 500;

/** The names of an application's features, in one text that `indexOf` searches. */
interface Names {
  readonly names: string[];
  readonly known: Set<string>;
  /** Names in lower case, each after a line feed. */
  text: string;
  /** Index of the beginning of each name. */
  readonly starts: number[];
  /** The next ordinal to read, by environment. Earlier series are not read again, because series are never deleted. */
  readonly next: Map<number, number>;
}

/** Searches for features by name, among all features that were seen. New series extend the index. */
export class NameIndex {
  readonly #store: UsageTables;
  readonly #known = new Map<number, Names>();

  constructor(store: UsageTables) {
    this.#store = store;
  }

  *find({ words, applications, limit }: NamesTask): Reading<FoundNames> {
    const found: FoundName[] = [];
    const budget = { series: maxReadAtOnce };
    const compared = Math.max(maxCompared.each, Math.floor(maxCompared.all / applications.length));
    for (const { number, environments } of applications) {
      const names = this.#ensureNames(number);
      for (const environment of environments) if (budget.series > 0) yield* this.#extend(names, environment, budget);
      yield* search(names, words, compared, (name, rank) => found.push({ application: number, name, rank }));
    }
    return { found: found.sort(byRank).slice(0, limit), complete: budget.series > 0 };
  }

  #ensureNames(application: number): Names {
    const known = this.#known.get(application) ?? {
      names: [],
      known: new Set<string>(),
      text: '',
      starts: [],
      next: new Map<number, number>(),
    };
    this.#known.delete(application);
    this.#known.set(application, known);
    if (this.#known.size > maxApplications) this.#known.delete([...this.#known.keys()][0]!);
    return known;
  }

  #extend(names: Names, environment: number, budget: { series: number }): Reading<void> {
    const store = this.#store;
    return fromSnapshot(store.lmdb, function* (at: Snapshot) {
      for (const { ordinal, name } of listSeries(store, environment, at, names.next.get(environment) ?? 0)) {
        names.next.set(environment, ordinal + 1);
        if (name.length === 2) add(names, name[0]);
        budget.series -= 1;
        if (budget.series === 0) return;
        if (budget.series % stride === 0) yield;
      }
    });
  }
}

function add(names: Names, name: string): void {
  if (name === surplusName || names.known.has(name)) return;
  names.known.add(name);
  names.names.push(name);
  names.starts.push(names.text.length);
  names.text += `\n${name.toLowerCase()}`;
}

/**
 * Searches the names. Names that begin with the first word are compared first, so that the limit does not omit them.
 * @param most maximum number of names to compare
 */
function* search(
  { names, text, starts }: Names,
  words: readonly string[],
  most: number,
  take: (name: string, rank: number) => void,
): Reading<void> {
  const taken = new Set<number>();
  let left = most;
  for (const word of [`\n${words[0]}`, words[0]!]) {
    let index = 0;
    for (let at = text.indexOf(word); at >= 0 && left > 0; at = text.indexOf(word, at)) {
      while (index + 1 < starts.length && starts[index + 1]! <= at) index += 1;
      const rank = taken.has(index) ? undefined : rankName(names[index]!, words);
      taken.add(index);
      if (rank !== undefined) take(names[index]!, rank);
      left -= 1;
      if (left % stride === 0) yield;
      if (index + 1 === starts.length) break;
      at = starts[index + 1]!;
    }
  }
}
