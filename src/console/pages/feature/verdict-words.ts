import { capitalize } from '../../../contract/field-words.ts';
import type { FeatureDetail } from '../../../contract/shapes/feature.ts';
import type { Verdict, VerdictAction } from '../../../contract/shapes/verdict.ts';
import { type VerdictKind, verdictRules } from '../../../contract/verdicts.ts';

export interface TextFormat {
  time(at: string): string;
  list(items: readonly string[]): string;
}

type Tone = 'good' | 'warn' | 'bad' | 'quiet';

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

/** Chooses the tone of a verdict. The tone of an undeclared flag is never good, because the name might be misspelt. */
export function chooseTone(
  kind: VerdictKind,
  { declared, archived }: Pick<FeatureDetail, 'declared' | 'archived'>,
): Tone {
  if (!declared) return 'warn';
  return archived && kind !== 'archived_but_asked' ? 'quiet' : tones[kind];
}

type VerdictSummary = Pick<
  Verdict,
  'kind' | 'since' | 'environments' | 'declared' | 'nearest' | 'staleAfterDays' | 'reasons'
>;

/**
 * Formats the heading of a verdict. For an archived or undeclared flag, the heading names this state. The verdict of
 * an archived flag is in `also`. Both texts are sentences without a full stop.
 */
export function formatHeading(
  verdict: VerdictSummary,
  detail: Pick<FeatureDetail, 'archived' | 'archivedAt' | 'snoozedUntil'>,
  wording: TextFormat,
): { readonly heading: string; readonly also?: string } {
  const { kind, declared, nearest } = verdict;
  if (!declared) {
    const meant = nearest === null ? '' : ` – did you mean ${nearest}?`;
    return { heading: `Fix: unknown flag${meant}` };
  }
  const also = formatSentence(verdict, detail.snoozedUntil, wording);
  if (!detail.archived || kind === 'archived_but_asked') return { heading: also };
  const since = detail.archivedAt === null ? '' : ` since ${wording.time(detail.archivedAt)}`;
  return { heading: `Archived${since}`, also };
}

function formatSentence(verdict: VerdictSummary, snoozedUntil: string | null, { time, list }: TextFormat): string {
  const { kind, since, environments } = verdict;
  const from = since !== null && dated.has(kind) ? ` since ${time(since)}` : '';
  const where = environments.length > 0 && placed.has(kind) ? `, in ${list(environments)}` : '';
  const label = snoozedUntil === null ? formatLabel(kind) : formatLabel(kind).replace('a date', time(snoozedUntil));
  return `${label}${from}${describeRule(verdict)}${where}`;
}

/** Returns the label of a verdict as the beginning of a sentence. */
export function formatLabel(kind: VerdictKind): string {
  return capitalize(verdictRules[kind].label);
}

/** Describes the rule by which a flag is in use. A page can show one variant although the verdict rests on several. */
function describeRule({ kind, reasons, staleAfterDays }: VerdictSummary): string {
  const variants = reasons.find(({ code }) => code === 'variants')?.names.length ?? 0;
  return kind === 'in_use' && variants > 1 ? `, ${variants} variants within ${staleAfterDays} days` : '';
}

const dated: ReadonlySet<VerdictKind> = new Set(['safe_to_remove', 'not_seen', 'one_variant', 'in_use', 'new']);

const placed: ReadonlySet<VerdictKind> = new Set(['one_variant', 'in_use', 'archived_but_asked']);

export function reasonText(
  { text, at }: Pick<Verdict['reasons'][number], 'text' | 'at'>,
  { time }: TextFormat,
): string {
  return at === null ? text : text.replace(at, time(at));
}

/**
 * Lists the possible actions, the suggested ones first. Omits actions that are already done. A snooze and a permanent
 * flag are one action: to keep the flag until a date, or for ever.
 */
export function listActions(
  suggested: readonly VerdictAction[],
  { archived, declared }: Pick<FeatureDetail, 'archived' | 'declared'>,
) {
  const all = ['copy', archived ? 'unarchive' : 'archive', 'keep', ...(declared ? [] : ['declare' as const])] as const;
  const first = suggested.map((action) => (action === 'snooze' || action === 'permanent' ? 'keep' : action));
  return [...new Set([...first, ...all])].filter((action) => all.includes(action));
}

/** Returns a text for removing a flag from the code: its name, its variants, and a command that finds it. */
export function cleanupText(name: string, variants: readonly string[]): string {
  const quoted = `'${name.replaceAll("'", "'\\''")}'`;
  return [
    `Flag: ${name}`,
    `Variants seen: ${variants.length === 0 ? 'none' : variants.toSorted().join(', ')}`,
    `Search: git grep -nF -e ${quoted}`,
    '',
  ].join('\n');
}
