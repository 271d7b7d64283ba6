import type { OverviewFeature } from '../../../contract/shapes/overview.ts';

/** What a flag can be filtered by: what can be said of it, and whether it is declared. */
export const states = {
  not_seen: 'no longer seen',
  one_variant: 'one variant only',
  archived_but_asked: 'archived but asked for',
  undeclared: 'undeclared',
  new: 'new',
  in_use: 'in use',
  snoozed: 'snoozed',
  permanent: 'permanent',
  cannot_tell: 'cannot tell',
} as const;

export type State = keyof typeof states;

/** Those that ask for something to be done. The line above the table shows them. */
export const pressing: readonly State[] = ['not_seen', 'one_variant', 'archived_but_asked', 'undeclared'];

/** What counts the flags for which there was no more room. It is no flag itself, so none can declare it. */
const surplus = '__other__';

/** Whether a word of an address names a state. */
export function isState(text: string | undefined): text is State {
  return text !== undefined && Object.hasOwn(states, text);
}

/** Whether a flag is in a state. */
export function isIn({ feature, verdict, declared }: OverviewFeature, state: State): boolean {
  return state === 'undeclared' ? !declared && feature !== surplus : verdict === state;
}

/** How many flags are in each state. */
export function countStates(features: readonly OverviewFeature[]): ReadonlyMap<State, number> {
  const all = Object.keys(states) as State[];
  return new Map(all.map((state) => [state, features.filter((feature) => isIn(feature, state)).length]));
}

/** What the table says of a flag. */
export function stateText(feature: OverviewFeature): string {
  const said = states[feature.verdict];
  return isIn(feature, 'undeclared') ? `${said} · undeclared` : said;
}
