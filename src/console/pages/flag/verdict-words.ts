import type { FeatureDetail } from '../../../contract/shapes/feature.ts';
import type { Verdict, VerdictAction } from '../../../contract/shapes/verdict.ts';
import type { VerdictKind } from '../../../contract/verdicts.ts';

/** Formats of times and lists. */
export interface Wording {
  time(at: string): string;
  list(items: readonly string[]): string;
}

const beginnings: Readonly<Record<VerdictKind, string>> = {
  safe_to_remove: 'Safe to remove: no sign of use',
  not_seen: 'No sign of use',
  one_variant: 'One variant only',
  in_use: 'Still used',
  archived_but_asked: 'Archived, but still requested',
  cannot_tell: 'Cannot tell whether it is used',
  permanent: 'Permanent: intended to stay',
  snoozed: 'Snoozed',
  new: 'New',
};

type Tone = 'good' | 'warn' | 'bad' | 'quiet';

/** The tone of each verdict on a declared flag. */
const tones: Readonly<Record<VerdictKind, Tone>> = {
  safe_to_remove: 'warn',
  not_seen: 'quiet',
  one_variant: 'warn',
  in_use: 'good',
  archived_but_asked: 'bad',
  cannot_tell: 'quiet',
  permanent: 'good',
  snoozed: 'quiet',
  new: 'good',
};

/** The tone of a verdict. An undeclared name may be misspelt, so nothing about it is good. */
export function toneOf(kind: VerdictKind, isDeclared: boolean): Tone {
  return tones[kind] === 'good' && !isDeclared ? 'warn' : tones[kind];
}

/** A verdict as a sentence. */
export function headingOf(
  { kind, since, environments }: Pick<Verdict, 'kind' | 'since' | 'environments'>,
  snoozedUntil: string | null,
  { time, list }: Wording,
): string {
  const until = kind === 'snoozed' && snoozedUntil !== null ? ` until ${time(snoozedUntil)}` : '';
  const from = since !== null && dated.has(kind) ? ` since ${time(since)}` : '';
  const where = environments.length > 0 && placed.has(kind) ? `, in ${list(environments)}` : '';
  return `${beginnings[kind]}${until}${from}${where}`;
}

/** The kinds whose start is shown. */
const dated: ReadonlySet<VerdictKind> = new Set(['safe_to_remove', 'not_seen', 'one_variant', 'new']);

/** The kinds whose environments are shown. */
const placed: ReadonlySet<VerdictKind> = new Set(['one_variant', 'in_use', 'archived_but_asked']);

/** A reason, with its time in the reader's locale. */
export function reasonText(
  { text, at }: Pick<Verdict['reasons'][number], 'text' | 'at'>,
  { time }: Wording,
): string {
  return at === null ? text : text.replace(at, time(at));
}

/** The possible actions, those that the verdict suggests first. Omits actions that are already done. */
export function actionsOf(
  suggested: readonly VerdictAction[],
  { archived, permanent, declared }: Pick<FeatureDetail, 'archived' | 'permanent' | 'declared'>,
  snoozed: boolean,
): readonly VerdictAction[] {
  const done: Readonly<Record<VerdictAction, boolean>> = {
    copy: false,
    archive: archived,
    unarchive: !archived,
    snooze: snoozed,
    permanent,
    declare: declared,
  };
  const all: readonly VerdictAction[] = ['copy', 'archive', 'unarchive', 'snooze', 'permanent', 'declare'];
  return [...new Set([...suggested, ...all])].filter((action) => !done[action]);
}

/** Text for removing a flag from the code: its name, its variants, and a command that finds it. */
export function cleanupText(name: string, variants: readonly string[]): string {
  const quoted = `'${name.replaceAll("'", "'\\''")}'`;
  return [
    `Flag: ${name}`,
    `Variants seen: ${variants.length === 0 ? 'none' : variants.toSorted().join(', ')}`,
    `Search: git grep -nF -e ${quoted}`,
    '',
  ].join('\n');
}
