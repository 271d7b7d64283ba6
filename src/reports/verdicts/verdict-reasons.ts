import { checksOnlyText, listChecksOnly } from '../../contract/message-routes.ts';
import { surplusName } from '../../contract/names.ts';
import { compactNumbers, shares } from '../../contract/numbers.ts';
import type { Verdict } from '../../contract/shapes/verdict.ts';
import type { ReasonCode, VerdictKind } from '../../contract/verdicts.ts';
import { timeText } from '../../runtime/rfc3339.ts';
import { type SeenSender, slotMs } from '../../storage/lmdb/senders.ts';
import {
  areAskersKnown,
  dayMs,
  type EnvironmentFacts,
  goneAskers,
  type Judgement,
  lateAskers,
  reporting,
  type VerdictFacts,
} from './verdict.ts';

type Reason = Verdict['reasons'][number];

/** Recent checks by variant, in the environments of a judgement. */
export interface Figures {
  readonly days: number;
  readonly checks: ReadonlyMap<string, number>;
}

/** Explains a judgement as sentences, the most important reason first. */
export function explainJudgement(facts: VerdictFacts, judgement: Judgement, figures: Figures): readonly Reason[] {
  const reasons = explain[judgement.kind](facts, judgement, figures);
  const sources = checksOnlyIn(facts, judgement);
  if (sources.length === 0) return reasons;
  return [...reasons, reason('checks_only', checksOnlyText(sources), sources)];
}

/** Returns the sources of the senders of a feature, if no source reports use and views. */
export function checksOnlyIn(facts: VerdictFacts, judgement: Judgement): string[] {
  return listChecksOnly(inThese(facts, judgement).flatMap(({ askers }) => askers));
}

type Explain = (facts: VerdictFacts, judgement: Judgement, figures: Figures) => readonly Reason[];

const explain: Readonly<Record<VerdictKind, Explain>> = {
  safe_to_remove: (facts, judgement) => [
    ...notNamed(judgement),
    askersStillReport(facts, judgement),
    keptReporting(facts, judgement),
    ...archivedSince(facts),
  ],
  not_seen: (facts, judgement) => [
    ...notNamed(judgement),
    keptReporting(facts, judgement),
    whyNotSafe(facts),
    ...archivedSince(facts),
  ],
  one_variant: (facts, judgement, figures) => [
    onlyVariant(judgement, formatPlaces(facts, judgement)),
    ...checked(facts, judgement, figures),
    ...stillAsking(facts, judgement),
    ...intended(facts),
  ],
  in_use: (facts, judgement, figures) => [
    ...timed('last_seen', lastSeen(facts), (at) => `Still in use: last seen at ${at}.`),
    ...checked(facts, judgement, figures),
    ...recentVariants(facts, judgement),
    ...stillAsking(facts, judgement),
    ...archivedSince(facts),
  ],
  archived_but_asked: (facts, judgement, figures) => [
    ...archivedSince(facts),
    ...timed(
      'last_seen',
      lastSeen(facts),
      (at) => `It was still checked at ${at}, in ${formatPlaces(facts, judgement)}.`,
    ),
    ...checked(facts, judgement, figures),
    ...stillAsking(facts, judgement),
  ],
  cannot_tell: (facts, judgement) => [
    ...inThese(facts, judgement)
      .slice(0, mostPlaces)
      .flatMap((each) => explainSilence(facts, each)),
    ...timed('last_seen', lastSeen(facts), (at) => `It was last seen at ${at}.`),
    reason('silence', 'Its silence does not prove that it is no longer used.'),
  ],
  permanent: (facts, { otherwise }, figures) => [
    reason('permanent', 'The team keeps it for ever.'),
    ...(otherwise === undefined ? [] : explain[otherwise.kind](facts, otherwise, figures)),
  ],
  snoozed: (facts, { otherwise }, figures) => [
    ...timed('snoozed', facts.declaration?.snoozedUntil ?? null, (at) => `The team keeps it until ${at}.`),
    ...(otherwise === undefined ? [] : explain[otherwise.kind](facts, otherwise, figures)),
  ],
  new: (facts, { since }) =>
    timed('new', since, (at) =>
      lastSeen(facts) === null ? `It is new: declared at ${at}, and not seen yet.` : `It is new: first seen at ${at}.`,
    ),
};

/** Returns the reason to distrust an undeclared name. @param similar the most similar declared name, if any */
export function undeclared(similar: string | null | undefined): Reason {
  if (!similar) return reason('undeclared', 'It is not declared.');
  const text = `It is not declared. Its name is similar to ${similar}: it might be misspelt.`;
  return reason('undeclared', text, [similar]);
}

const mostPlaces = 5;
const mostNamed = 3;

function notNamed({ since }: Judgement): readonly Reason[] {
  return timed('not_named', since, (at) => `No packet and no report has named it since ${at}.`);
}

/** Returns the reason that names the senders that checked the feature, all of which still report. */
function askersStillReport(facts: VerdictFacts, judgement: Judgement): Reason {
  const names = listSenders(inThese(facts, judgement).flatMap(({ askers }) => askers));
  if (names.length === 0) return reason('senders_forgotten', 'No sender has checked it for 90 days.');
  const verb = names.length === 1 ? 'still reports' : 'still report';
  return reason('senders_report', `${listed(names)} used to check it, and ${verb}.`, names);
}

function whyNotSafe(facts: VerdictFacts): Reason {
  if (lastSeen(facts) === null && facts.environments.every(({ sight }) => sight === undefined))
    return reason('never_seen', 'It was declared, and never seen. Its silence is the only basis.');
  const unknown = facts.environments.filter((each) => each.sight && !areAskersKnown(facts, each));
  const places = listed(unknown.map(({ name }) => name));
  return reason(
    'senders_unknown',
    `The senders that checked it in ${places} are not known. Its silence is the only basis.`,
  );
}

function keptReporting(facts: VerdictFacts, judgement: Judgement): Reason {
  const senders = listSenders(inThese(facts, judgement).flatMap(({ reporters }) => reporting(facts, reporters)));
  const many = senders.length === 1 ? '1 sender' : `${senders.length} senders`;
  const places = formatPlaces(facts, judgement);
  const text = `During that time, ${many} of this application kept reporting in ${places}: ${listed(senders)}.`;
  return reason('others_report', text, senders);
}

function onlyVariant({ variant, since }: Judgement, places: string): Reason {
  const names = [variant ?? ''];
  const [said] = timed(
    'only_variant',
    since,
    (at) => `Only the variant ${variant} has been served since ${at}, in ${places}.`,
    names,
  );
  return said ?? reason('only_variant', `Only the variant ${variant} was ever served, in ${places}.`, names);
}

function archivedSince({ declaration }: VerdictFacts): readonly Reason[] {
  if (!declaration?.archived) return [];
  const said = timed('archived', declaration.archivedAt, (at) => `Archived at ${at}.`);
  return said.length > 0 ? said : [reason('archived', 'It is archived.')];
}

const compact = compactNumbers('en');
const percent = shares('en');

function checked(facts: VerdictFacts, judgement: Judgement, { days, checks }: Figures): readonly Reason[] {
  const variants = [...checks].filter(([, count]) => count > 0).toSorted(([, one], [, other]) => other - one);
  const total = variants.reduce((sum, [, count]) => sum + count, 0);
  if (total === 0) return [];
  const [first] = variants;
  const split =
    variants.length === 1
      ? `all of them ${first![0]}`
      : listed(variants.map(([variant, count]) => `${variant} ${percent(count / total)}`));
  const what = total === 1 ? '1 check' : `${compact(total)} checks`;
  const names = variants.map(([variant]) => variant);
  // A page shows the checks of one environment. The reason names the environments if it counts several.
  const places = judgement.environments.length > 1 ? `, in ${formatPlaces(facts, judgement)}` : '';
  return [reason('checks', `${what} in the last ${days} days${places}: ${split}.`, names)];
}

/** Returns the reason with the recent variants. A shorter range can contain only one of these variants. */
function recentVariants({ quietMs }: VerdictFacts, { variants = [] }: Judgement): readonly Reason[] {
  const [only, ...others] = variants;
  if (only === undefined) return [];
  const days = `${quietMs / dayMs} days`;
  const text =
    others.length === 0
      ? `Its only variant within ${days} is ${only}.`
      : `${variants.length} variants were served within ${days}: ${listed(variants)}.`;
  return [reason('variants', text, variants)];
}

function stillAsking(facts: VerdictFacts, judgement: Judgement): readonly Reason[] {
  const names = listSenders(inThese(facts, judgement).flatMap(({ askers }) => reporting(facts, askers)));
  if (names.length === 0) return [];
  const text = `${listed(names)} still ${names.length === 1 ? 'checks' : 'check'} it.`;
  return [reason('still_checked', text, names)];
}

function intended({ declaration }: VerdictFacts): readonly Reason[] {
  const variants = (declaration?.split ?? []).map(([variant]) => variant);
  if (variants.length < 2) return [];
  return [reason('split', `The team has declared a split between ${listed(variants)}.`, variants)];
}

/** Explains why the silence of an environment proves nothing. */
function explainSilence(facts: VerdictFacts, environment: EnvironmentFacts): readonly Reason[] {
  const { name, reporters } = environment;
  if (reporting(facts, reporters).length === 0) {
    const text = (at: string) => `Nothing has reported in ${name} since ${at}.`;
    const said = timed('nothing_reports', findLastReport(reporters), text);
    return said.length > 0 ? said : [reason('nothing_reports', `Nothing is known to have reported in ${name}.`)];
  }
  const late = listSenders(lateAskers(facts, environment));
  const gone = latestFirst(goneAskers(facts, environment)).slice(0, mostNamed);
  return [
    ...namedLate(name, late),
    ...gone.flatMap((sender) =>
      timed(
        'sender_silent',
        findLastReport([sender]),
        (at) => `${formatSender(sender)} checked it in ${name}, last at ${at}, and no longer reports.`,
        [formatSender(sender)],
      ),
    ),
  ];
}

function namedLate(environment: string, names: readonly string[]): readonly Reason[] {
  if (names.length === 0) return [];
  const text = `${listed(names)} still ${names.length === 1 ? 'names' : 'name'} it in ${environment}, at earlier times: a clock might be wrong.`;
  return [reason('named_late', text, names)];
}

function inThese({ environments }: VerdictFacts, judgement: Judgement): readonly EnvironmentFacts[] {
  return environments.filter(({ name }) => judgement.environments.includes(name));
}

function formatPlaces({ environments }: VerdictFacts, { environments: names }: Judgement): string {
  if (names.length > 1 && names.length === environments.length) return `all ${names.length} environments`;
  return listed(names);
}

function lastSeen({ environments }: VerdictFacts): number | null {
  const times = environments.flatMap(({ sight }) => sight?.lastSeenAt ?? []);
  return times.length === 0 ? null : Math.max(...times);
}

function findLastReport(senders: readonly SeenSender[]): number | null {
  return senders.length === 0 ? null : Math.max(...senders.map(({ last }) => last)) * slotMs;
}

/** Sorts senders by their last time, the latest first. */
export function latestFirst<T extends { readonly last: number }>(senders: readonly T[]): readonly T[] {
  return senders.toSorted((one, other) => other.last - one.last);
}

/** Lists senders by name and version, each once. */
function listSenders(senders: readonly SeenSender[]): readonly string[] {
  return [...new Set(latestFirst(senders).map(formatSender))];
}

function formatSender({ name, version }: SeenSender): string {
  if (name === surplusName) return 'others';
  return version === null ? name : `${name} ${version}`;
}

/** Joins texts for a sentence: `a, b and 3 more`. */
function listed(texts: readonly string[]): string {
  const shown = texts.length > mostNamed + 1 ? texts.slice(0, mostNamed) : texts;
  const rest = texts.length - shown.length;
  const parts = rest === 0 ? shown : [...shown, `${rest} more`];
  return parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`;
}

function reason(code: ReasonCode, text: string, names: readonly string[] = []): Reason {
  return { code, text, at: null, names: names.slice(0, mostInNames) };
}

/** Maximum number of names in the data of a reason. */
const mostInNames = 20;

/** Returns a sentence with a time, or no sentence if the time is unknown. */
function timed(
  code: ReasonCode,
  time: number | null,
  say: (at: string) => string,
  names: readonly string[] = [],
): readonly Reason[] {
  if (time === null) return [];
  const at = timeText(time);
  return [{ ...reason(code, say(at), names), at }];
}
