import { canGo, refusing } from '../../contract/health.ts';
import { surplusName } from '../../contract/names.ts';
import { maxSubjects } from '../../contract/shapes/health.ts';
import type { FeatureSplit } from '../../contract/shapes/split.ts';
import type { VerdictKind } from '../../contract/verdicts.ts';
import type { FeatureDeclaration } from '../../storage/lmdb/records.ts';
import { slotMs } from '../../storage/lmdb/senders.ts';
import { fromSnapshot, type Reading } from '../../storage/lmdb/snapshot.ts';
import type { UsageTables } from '../../storage/lmdb/usage.ts';
import type { SplitCache } from '../experiments/split-report.ts';
import { refusedSince } from './refused-messages.ts';
import type { Place, Verdicts, VerdictsTask } from './verdicts.ts';

export interface FindingsTask extends VerdictsTask {
  /** Number of the application. */
  readonly application: number;
}

/** The findings about flags. */
export type FlagKind = 'archived_but_asked' | 'flags_can_go' | 'split_mismatch' | 'undeclared';

/** Some names, of which the first ones are kept. */
interface Found {
  readonly count: number;
  readonly names: readonly string[];
}

/** The flags of an environment, or of the whole application. */
export interface FoundFlags {
  /** Number of flags seen or declared. */
  readonly flags: number;
  readonly found: Readonly<Record<FlagKind, Found>>;
}

interface FoundRefusals {
  /** `null` if the messages named no existing environment. */
  readonly environment: string | null;
  readonly code: string;
  /** Unix ms. */
  readonly lastAt: number;
  readonly senders: readonly string[];
}

interface FoundPlace extends FoundFlags {
  readonly name: string;
  /** When data was last received, Unix ms, to the minute; `null`: never. */
  readonly lastReceivedAt: number | null;
}

/** What the data of an application shows, for the rules of `src/contract/health.ts`. */
export interface DataFindings {
  readonly environments: readonly FoundPlace[];
  readonly all: FoundFlags;
  /** The episodes that last. */
  readonly refused: readonly FoundRefusals[];
}

/** Reads the refusals of the last hours. The verdicts are remembered: see `Verdicts`. */
export function* findingsReport(
  store: UsageTables,
  { verdicts, splits }: { readonly verdicts: Verdicts; readonly splits: SplitCache },
  task: FindingsTask,
): Reading<DataFindings> {
  const { now } = task;
  const { kinds, places } = yield* verdicts.of(task);
  const refused = yield* fromSnapshot(store.lmdb, (at) =>
    refusedSince(store, task, now - refusing.countedMs, at),
  );
  const off = new Map<string, ReadonlySet<string>>();
  for (const { name, number } of places) {
    const found = yield* splits.of({ environment: number, declared: task.declared, now });
    // Only users are counted precisely enough for a warning.
    const isOff = ([, { state, of }]: readonly [string, FeatureSplit]) => state === 'off' && of === 'users';
    off.set(name, new Set([...found].filter(isOff).map(([feature]) => feature)));
  }
  const flagsIn = flagsFinder(task.declared, kinds);
  const everywhere = new Set([...off.values()].flatMap((names) => [...names]));
  return {
    environments: places.map((place) => ({
      name: place.name,
      lastReceivedAt: lastReceived(place, now),
      ...flagsIn((name) => place.sights.has(name), off.get(place.name)),
    })),
    all: flagsIn(() => true, everywhere),
    refused: refused
      .filter(({ count, lastAt }) => count >= refusing.least && now - lastAt < refusing.quietMs)
      .map(({ environment, code, lastAt, senders }) => ({
        environment: environment?.name ?? null,
        code,
        lastAt,
        senders: [...senders],
      })),
  };
}

/** Senders are known to ten minutes, and report metrics and checks; flags are known to the minute. */
function lastReceived({ sights, reporters }: Place, now: number): number | null {
  let last = Math.max(0, ...reporters.map((sender) => sender.last * slotMs));
  for (const { lastSeenAt } of sights.values()) last = Math.max(last, lastSeenAt ?? 0);
  return last === 0 ? null : Math.min(last, now);
}

/** Finds the flags that are declared, or for which `isSeen`. */
function flagsFinder(
  declared: readonly FeatureDeclaration[],
  kinds: ReadonlyMap<string, VerdictKind>,
): (isSeen: (name: string) => boolean, off: ReadonlySet<string> | undefined) => FoundFlags {
  const declarations = new Map(declared.map((each) => [each.name, each]));
  return (isSeen, off) => {
    const found = {
      archived_but_asked: none(),
      flags_can_go: none(),
      split_mismatch: none(),
      undeclared: none(),
    };
    let flags = 0;
    for (const [name, kind] of kinds) {
      const declaration = declarations.get(name);
      if (name === surplusName || (declaration === undefined && !isSeen(name))) continue;
      flags += 1;
      if (kind === 'archived_but_asked') add(found.archived_but_asked, name);
      if (canGo(kind, declaration)) add(found.flags_can_go, name);
      if (off?.has(name)) add(found.split_mismatch, name);
      if (declaration === undefined && declarations.size > 0) add(found.undeclared, name);
    }
    return { flags, found };
  };
}

function none(): { count: number; names: string[] } {
  return { count: 0, names: [] };
}

function add(found: ReturnType<typeof none>, name: string): void {
  found.count += 1;
  if (found.names.length < maxSubjects) found.names.push(name);
}
