import type { OverviewFeature } from '../../../contract/shapes/overview.ts';
import { silenceOf } from '../../../contract/verdicts.ts';

/** The states that flags can be filtered by. */
export const states = {
  safe_to_remove: 'safe to remove',
  one_variant: 'one variant only',
  archived_but_asked: 'archived but requested',
  undeclared: 'undeclared',
  new: 'new',
  in_use: 'in use',
  snoozed: 'snoozed',
  permanent: 'permanent',
  not_seen: 'silent, senders unknown',
  cannot_tell: 'cannot tell',
} as const;

export type State = keyof typeof states;

/** The states that need attention. The line above the table shows them. */
export const pressing: readonly State[] = [
  'safe_to_remove',
  'one_variant',
  'archived_but_asked',
  'undeclared',
];

/** Counts the flags beyond the limit. It is not a flag, so nobody can declare it. */
const surplus = '__other__';

/** Whether a parameter names a state. */
export function isState(text: string | undefined): text is State {
  return text !== undefined && Object.hasOwn(states, text);
}

/** Whether a flag is in a state. */
export function isIn({ feature, verdict, declared }: OverviewFeature, state: State): boolean {
  return state === 'undeclared' ? !declared && feature !== surplus : verdict === state;
}

/** The number of flags in each state. */
export function countStates(features: readonly OverviewFeature[]): ReadonlyMap<State, number> {
  const all = Object.keys(states) as State[];
  return new Map(all.map((state) => [state, features.filter((feature) => isIn(feature, state)).length]));
}

/** The mark of a flag in the table. An undeclared name may be misspelt, so nothing about it is good. */
export function markOf(feature: OverviewFeature): string {
  return feature.verdict === 'in_use' && isIn(feature, 'undeclared') ? 'undeclared' : feature.verdict;
}

/** What a reader should know about the state of a flag. */
export function hintOf(feature: OverviewFeature): string | undefined {
  const hints = [
    isIn(feature, 'undeclared') ? 'Not declared: the name may be misspelt' : undefined,
    silenceOf(feature.verdict),
  ];
  return hints.filter((hint) => hint !== undefined).join('. ') || undefined;
}

/** The state of a flag in the table. */
export function stateText(feature: OverviewFeature): string {
  const said = states[feature.verdict];
  return isIn(feature, 'undeclared') ? `${said} · undeclared` : said;
}
