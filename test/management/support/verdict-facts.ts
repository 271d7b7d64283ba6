import type { VerdictKind } from '../../../src/contract/verdicts.ts';
import type { FeatureSight } from '../../../src/reports/usage/sights.ts';
import type { EnvironmentFacts, VerdictFacts } from '../../../src/reports/verdicts/verdict.ts';
import type { FeatureDeclaration } from '../../../src/storage/lmdb/records.ts';
import { type SeenSender, slotMs } from '../../../src/storage/lmdb/senders.ts';

export const dayMs = 86_400_000;
export const now = Date.UTC(2026, 5, 15);
const quietMs = 30 * dayMs;
/** Returns the time a number of days before now. */
export const ago = (days: number) => now - days * dayMs;

const declared: FeatureDeclaration = {
  applicationId: 'app',
  name: 'checkout',
  number: 1,
  description: null,
  archived: false,
  archivedAt: null,
  permanent: false,
  snoozedUntil: null,
  split: null,
  createdAt: ago(300),
  updatedAt: ago(300),
};

export type Days = readonly [first: number | null, last: number | null];

/** Creates the first and last time of a feature and of each variant, from numbers of days before now. */
export function createSight([first, last]: Days, variants: Readonly<Record<string, Days>> = {}): FeatureSight {
  const createTimes = ([one, other]: Days) => ({
    firstSeenAt: one === null ? null : ago(one),
    lastSeenAt: other === null ? null : ago(other),
  });
  const entries = Object.entries(variants).map(([name, days]) => [name, createTimes(days)] as const);
  return { ordinal: 0, ...createTimes([first, last]), variants: new Map(entries) };
}

/** Creates a sender that was last seen a number of days before now. */
export function sender(name: string, last: number, route: SeenSender['route'] = 'usage'): SeenSender {
  const slot = Math.floor(ago(last) / slotMs);
  return { name, version: '1.0', transport: 'http', route, first: slot, last: slot };
}

/** Creates an environment with only the given facts. */
export const place = (name: string, facts: Partial<EnvironmentFacts> = {}): EnvironmentFacts => ({
  name,
  sight: undefined,
  reporters: [],
  askers: [],
  ...facts,
});

export const createFacts = (
  environments: readonly EnvironmentFacts[],
  declaration: Partial<FeatureDeclaration> | undefined = {},
): VerdictFacts => ({ declaration: { ...declared, ...declaration }, environments, now, quietMs });

export const api = sender('api', 0);
export const both = { on: [100, 0], off: [100, 1] } as const;
export const used = createSight([100, 0], both);
export const onlyOn = createSight([100, 0], { on: [100, 0] });
export const silent = createSight([100, 40], both);
/** Senders beyond the limit. */
export const others = sender('__other__', 0);

/** The facts, and the verdict with its age in days and its environments. */
export type VerdictCase = readonly [
  title: string,
  facts: VerdictFacts,
  kind: VerdictKind,
  days: number | null,
  environments: string,
];
