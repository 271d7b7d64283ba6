import type { VerdictAction, VerdictKind } from '../contract/shapes/verdict.ts';
import type { VerdictFacts } from './verdict.ts';

const actions: Readonly<Record<VerdictKind, readonly VerdictAction[]>> = {
  not_seen: ['copy', 'archive', 'snooze', 'permanent'],
  one_variant: ['copy', 'snooze', 'permanent', 'archive'],
  in_use: ['permanent', 'archive'],
  archived_but_asked: ['copy', 'unarchive', 'snooze'],
  cannot_tell: ['snooze', 'permanent', 'copy'],
  permanent: ['copy'],
  snoozed: ['copy', 'permanent', 'archive'],
  new: ['permanent', 'archive'],
};

/** What a team can do next, the best first. A name that only senders know is to be declared, or to be looked for in the code. */
export function actionsOf(kind: VerdictKind, { declaration }: VerdictFacts): readonly VerdictAction[] {
  const possible = actions[kind].filter((action) => action !== 'archive' || !declaration?.archived);
  if (declaration !== undefined) return possible;
  return ['declare', 'copy', ...possible.filter((action) => action !== 'copy')];
}
