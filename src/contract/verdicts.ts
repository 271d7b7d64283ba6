/** The evidence that a verdict rests on. */
export type VerdictBasis = 'declaration' | 'age' | 'use' | 'senders' | 'silence';

interface VerdictRule {
  readonly basis: VerdictBasis;
  /** Advice on the feature. */
  readonly advice: 'keep' | 'remove' | 'fix';
  /** The advice with its reason, for people. */
  readonly label: string;
  /** Meaning of the verdict in a few words. */
  readonly meaning: string;
  /** Condition of the verdict, in Markdown. */
  readonly when: string;
}

/**
 * The verdicts on a feature. The first rule that applies determines the verdict. `src/reports/verdicts/verdict.ts`
 * implements the rules. The table of docs/semantics.md is generated from this object.
 */
export const verdictRules = {
  snoozed: {
    basis: 'declaration',
    advice: 'keep',
    label: 'keep until a date',
    meaning: 'postponed by the team',
    when: 'The team has snoozed the feature (`snoozedUntil`).',
  },
  archived_but_asked: {
    basis: 'use',
    advice: 'fix',
    label: 'fix: archived, but still checked',
    meaning: 'archived, but still checked',
    when: 'The feature is archived, and was seen since then and within 30 days. *A program still depends on the feature.*',
  },
  permanent: {
    basis: 'declaration',
    advice: 'keep',
    label: 'keep for ever',
    meaning: 'meant to stay',
    when: 'The team has marked it as meant to stay.',
  },
  new: {
    basis: 'age',
    advice: 'keep',
    label: 'keep: new',
    meaning: 'first seen or declared less than 7 days ago',
    when: 'First seen less than 7 days ago, or declared less than 7 days ago and never seen. *Every weekly job runs within 7 days.*',
  },
  one_variant: {
    basis: 'use',
    advice: 'remove',
    label: 'remove: one variant only',
    meaning: 'a single variant in use',
    when: 'Seen within 30 days, with the same single variant in all environments. *Such a flag decides nothing, and a rollout takes less than 30 days.*',
  },
  in_use: {
    basis: 'use',
    advice: 'keep',
    label: 'keep: in use',
    meaning: 'still used',
    when: 'Seen within 30 days, and no earlier rule applies.',
  },
  cannot_tell: {
    basis: 'silence',
    advice: 'keep',
    label: 'keep: silence proves nothing',
    meaning: 'silent, but its senders are silent too, or their times are wrong',
    when: 'Not seen for 30 days, but the silence proves nothing. In an environment that has seen the feature, no sender reports, a sender of the last 90 days has stopped reporting, or a sender names the feature in late reports. If the feature was never seen, no environment has a sender that reports. *A quarterly job looks the same as a removed job.*',
  },
  safe_to_remove: {
    basis: 'senders',
    advice: 'remove',
    label: 'remove: no sign of use',
    meaning: 'no longer checked by any of its senders, and all of them still report',
    when: 'Not seen for 30 days. In every environment that has seen the feature, senders report. The senders that checked the feature are known and still report in some version, or the environment has not seen the feature for 90 days. *A sender that is silent for 90 days counts as switched off.*',
  },
  not_seen: {
    basis: 'silence',
    advice: 'keep',
    label: 'keep: senders unknown, no sign of use',
    meaning: 'silent while others report, but the senders that checked it are unknown',
    when: 'Not seen for 30 days, and no earlier rule applies. The feature was never seen, or its senders are unknown, for example after an import.',
  },
} as const satisfies Readonly<Record<string, VerdictRule>>;

export type VerdictKind = keyof typeof verdictRules;

export const verdictKinds = Object.keys(verdictRules) as [VerdictKind, ...VerdictKind[]];

/** Converts the kind of a verdict to the form of commands, with hyphens. */
export function verdictWord(kind: unknown): string | null {
  return typeof kind === 'string' ? kind.replaceAll('_', '-') : null;
}

/** Explains a verdict whose only evidence is silence. Returns `undefined` for other verdicts. */
export function explainSilence(kind: VerdictKind): string | undefined {
  return verdictRules[kind].basis === 'silence' ? silenceOnly : undefined;
}

/** Commands print this text, and API descriptions contain it. */
export const silenceOnly = 'Silence is the only evidence: a sender that could use the flag might be switched off';

/** The meaning of each reason of a verdict. Codes are stable, texts are not. */
export const reasonCodes = {
  not_named: 'No packet and no report has named it since the given time.',
  others_report: 'Other senders kept reporting. `names` lists them.',
  senders_report: 'The senders that checked it still report. `names` lists them.',
  senders_forgotten: 'No sender has checked it for 90 days.',
  senders_unknown: 'The senders that checked it are unknown.',
  never_seen: 'It was declared, and never seen.',
  nothing_reports: 'No sender reports in an environment.',
  named_late: 'Senders still name it, in reports of earlier times, so their clocks might be wrong. `names` lists them.',
  sender_silent: 'A sender that checked it no longer reports. `names` has it.',
  silence: 'Its silence does not prove that it is no longer used.',
  last_seen: 'It was last seen at the given time.',
  variants: 'The variants served recently. `names` has them.',
  only_variant: 'Only one variant was served. `names` has it.',
  checks: 'Number of checks in the last 30 days. `names` has their variants.',
  still_checked: 'The senders that still check it. `names` has them.',
  split: 'The team has declared a split. `names` has its variants.',
  archived: 'It is archived.',
  permanent: 'The team has declared it permanent.',
  snoozed: 'The verdict is snoozed until the given time.',
  new: 'It is new.',
  checks_only: 'Its senders report checks only. `names` has their kinds, such as Unleash.',
  undeclared: 'It is not declared. `names` has the declared name that is most similar, if any.',
} as const;

export type ReasonCode = keyof typeof reasonCodes;

/** Codes of reasons that say why a feature can or cannot be removed, the most telling first. */
const decisive: readonly ReasonCode[] = [
  'split',
  'still_checked',
  'named_late',
  'sender_silent',
  'nothing_reports',
  'senders_unknown',
  'never_seen',
  'senders_report',
  'last_seen',
];

/** Returns the reason that decides whether a feature can be removed; the first reason if no reason is decisive. */
export function findDecisive<R extends { readonly code: string }>(reasons: readonly R[]): R | undefined {
  const found = decisive.flatMap((code) => reasons.find((reason) => reason.code === code) ?? []);
  return found[0] ?? reasons[0];
}
