import { isChecksOnly, listChecksOnly } from '../../contract/message-routes.ts';
import type { Environment, FeatureDeclaration } from '../../storage/lmdb/records.ts';
import type { SeenSender } from '../../storage/lmdb/senders.ts';
import { environmentOrdinal } from '../../storage/lmdb/sketches.ts';
import { fromSnapshot, type Reading, type Snapshot } from '../../storage/lmdb/snapshot.ts';
import type { UsageTables } from '../../storage/lmdb/usage.ts';
import { type FeatureSight, sightsAt } from '../usage/sights.ts';
import { sendersAt } from './senders-report.ts';
import { type EnvironmentFacts, type Judgement, judge, judgeWhenArchived, type VerdictFacts } from './verdict.ts';

export interface VerdictsTask {
  /** All environments of the application. */
  readonly environments: readonly Pick<Environment, 'name' | 'number'>[];
  readonly declared: readonly FeatureDeclaration[];
  /** Unix ms. */
  readonly now: number;
  /** The threshold for stale features. */
  readonly staleAfterMs: number;
}

/** Maximum age of cached first-seen and last-seen times, ms. They are precise to the minute, and slow to read. */
const freshMs = 20_000;
/** Maximum number of cached applications. */
const maxRemembered = 32;

interface CachedVerdicts {
  readonly readAt: number;
  readonly places: readonly Place[];
  /** The verdicts by feature, each with its declaration. */
  readonly kinds: Map<string, CachedVerdict>;
  /** Sources by the number of an environment. */
  readonly sources: Map<number, Sources>;
}

interface CachedVerdict {
  readonly said: string;
  readonly judgement: Judgement;
  readonly whenArchived: Judgement | undefined;
}

/** The sources that report checks only: see `listChecksOnly`. */
interface Sources {
  readonly checksOnly: readonly string[];
  readonly checksOnlyBy: ReadonlyMap<string, readonly string[]>;
}

const noSources: Sources = { checksOnly: [], checksOnlyBy: new Map() };

export interface AllVerdicts extends Sources {
  readonly judgements: ReadonlyMap<string, Judgement>;
  /** The judgements of archived features at the time at which each was archived. */
  readonly whenArchived: ReadonlyMap<string, Judgement>;
  /** The facts from which the verdicts were computed. */
  readonly places: readonly Place[];
}

/** The verdicts on all features of applications. They use current declarations, and times up to 20 seconds old. */
export class Verdicts {
  readonly #store: UsageTables;
  readonly #remembered = new Map<string, CachedVerdicts>();

  constructor(store: UsageTables) {
    this.#store = store;
  }

  /**
   * Returns the verdict on every feature of an application, declared or seen.
   * @param environment number of an environment, to find the sources there that report checks only
   */
  of(task: VerdictsTask, environment?: number): Reading<AllVerdicts> {
    const store = this.#store;
    const { declared, now } = task;
    const recall = () => this.#recall(task);
    const remember = (places: readonly Place[]) => this.#remember(task, places);
    return fromSnapshot(store.lmdb, function* (at) {
      const known = recall() ?? remember(yield* placesAt(store, task.environments, now, at));
      const declarations = new Map(declared.map((each) => [each.name, each]));
      const seen = known.places.flatMap(({ sights }) => [...sights.keys()]);
      const judgements = new Map<string, Judgement>();
      const whenArchived = new Map<string, Judgement>();
      for (const name of new Set([...declarations.keys(), ...seen])) {
        const declaration = declarations.get(name);
        const said = saidBy(declaration);
        let verdict = known.kinds.get(name);
        if (verdict?.said !== said) {
          const { judgement, facts } = judgeIn(store, task, known.places, name, declaration, at);
          verdict = { said, judgement, whenArchived: judgeWhenArchived(facts) };
          known.kinds.set(name, verdict);
        }
        judgements.set(name, verdict.judgement);
        if (verdict.whenArchived !== undefined) whenArchived.set(name, verdict.whenArchived);
        if (judgements.size % stride === 0) yield;
      }
      const place = known.places.find(({ number }) => number === environment);
      if (place !== undefined && !known.sources.has(place.number))
        known.sources.set(place.number, yield* sourcesAt(store, place, now, at));
      const sources = known.sources.get(environment ?? -1) ?? noSources;
      return { judgements, whenArchived, places: known.places, ...sources };
    });
  }

  #recall(task: VerdictsTask): CachedVerdicts | undefined {
    const known = this.#remembered.get(formatKey(task));
    return known !== undefined && Math.abs(task.now - known.readAt) < freshMs ? known : undefined;
  }

  #remember(task: VerdictsTask, places: readonly Place[]): CachedVerdicts {
    const known: CachedVerdicts = { readAt: task.now, places, kinds: new Map(), sources: new Map() };
    const key = formatKey(task);
    this.#remembered.delete(key);
    this.#remembered.set(key, known);
    if (this.#remembered.size > maxRemembered) this.#remembered.delete([...this.#remembered.keys()][0]!);
    return known;
  }
}

/** Returns the cache key. The numbers of environments are unique, and never reused. */
function formatKey({ environments }: VerdictsTask): string {
  return environments.map(({ number }) => number).join(' ');
}

/** Number of features between two pauses. */
const stride = 64;

/** The facts about one environment. */
export interface Place {
  readonly name: string;
  readonly number: number;
  readonly sights: ReadonlyMap<string, FeatureSight>;
  readonly reporters: readonly SeenSender[];
}

/** Reads the facts about environments. @param only features to read; all by default */
export function* placesAt(
  store: UsageTables,
  environments: VerdictsTask['environments'],
  now: number,
  at: Snapshot,
  only?: ReadonlySet<string>,
): Reading<readonly Place[]> {
  const places: Place[] = [];
  for (const { name, number } of environments) {
    const sights = yield* sightsAt(store, number, at, only);
    places.push({ name, number, sights, reporters: sendersAt(store, number, environmentOrdinal, now, at) });
  }
  return places;
}

/** Finds the sources that report checks only. The senders of features are read only if such a source exists. */
function* sourcesAt(
  store: UsageTables,
  { number, sights, reporters }: Place,
  now: number,
  at: Snapshot,
): Reading<Sources> {
  if (!reporters.some(isChecksOnly)) return noSources;
  const checksOnlyBy = new Map<string, readonly string[]>();
  let left = stride;
  for (const [feature, { ordinal }] of sights) {
    const sources = listChecksOnly(sendersAt(store, number, ordinal, now, at));
    if (sources.length > 0) checksOnlyBy.set(feature, sources);
    left = left === 0 ? stride : left - 1;
    if (left === 0) yield;
  }
  return { checksOnly: listChecksOnly(reporters), checksOnlyBy };
}

/** Returns the facts about a feature, with the senders that checked it. */
export function factsWithAskers(
  store: UsageTables,
  places: readonly Place[],
  feature: string,
  now: number,
  at: Snapshot,
): readonly EnvironmentFacts[] {
  return places.map((place) => {
    const sight = place.sights.get(feature);
    const askers = sight === undefined ? [] : sendersAt(store, place.number, sight.ordinal, now, at);
    return { ...createFacts(place, feature), askers };
  });
}

/** Returns the verdict on one feature, with its facts. The senders that checked it are read only if it is silent. */
export function judgeIn(
  store: UsageTables,
  { now, staleAfterMs }: Pick<VerdictsTask, 'now' | 'staleAfterMs'>,
  places: readonly Place[],
  name: string,
  declaration: FeatureDeclaration | undefined,
  at: Snapshot,
): { readonly judgement: Judgement; readonly facts: VerdictFacts } {
  const judgeBy = (environments: VerdictFacts['environments']) => {
    const facts = { declaration, environments, now, quietMs: staleAfterMs };
    return { facts, judgement: judge(facts) };
  };
  const judged = judgeBy(places.map((place) => createFacts(place, name)));
  const { kind } = judged.judgement;
  return kind === 'not_seen' || kind === 'safe_to_remove'
    ? judgeBy(factsWithAskers(store, places, name, now, at))
    : judged;
}

/** Returns the fields of a declaration that affect a verdict, as text. */
function saidBy(declaration: FeatureDeclaration | undefined): string {
  if (declaration === undefined) return '';
  const { archived, archivedAt, permanent, snoozedUntil, createdAt } = declaration;
  return `${archived} ${archivedAt} ${permanent} ${snoozedUntil} ${createdAt}`;
}

function createFacts({ name, sights, reporters }: Place, feature: string): EnvironmentFacts {
  return { name, sight: sights.get(feature), reporters, askers: [] };
}
