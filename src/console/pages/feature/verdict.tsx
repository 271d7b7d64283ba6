import type { FeatureDetail, FeaturePatch } from '../../../contract/shapes/feature.ts';
import type { Verdict, VerdictAction } from '../../../contract/shapes/verdict.ts';
import { findDecisive } from '../../../contract/verdicts.ts';
import { featureAddress, useQuery } from '../../address/address.ts';
import { currentTime } from '../../api/clock.ts';
import { usePoll } from '../../api/poll.ts';
import { describeError } from '../../api/problem.ts';
import { useAction } from '../../components/action.tsx';
import { copyAloud } from '../../components/copy.tsx';
import { Menu } from '../../components/menu.tsx';
import { hasRole } from '../../reader/reader.tsx';
import { format } from '../../text/format.ts';
import { declare, type FeaturePlace, type FeatureProps, featurePath, useFeatureChange } from './change.tsx';
import { SplitReason } from './split.tsx';
import { listVariants } from './traffic.ts';
import { chooseTone, cleanupText, formatHeading, listActions, reasonText } from './verdict-words.ts';

const everyMs = 10_000;

function useVerdict(place: FeaturePlace) {
  return usePoll<Verdict>(featurePath(place, 'verdict'), everyMs);
}

/** The verdict in one line with its reason, and the actions. */
export function VerdictLine({ place, feature }: FeatureProps) {
  const { data, error } = useVerdict(place);
  const tone = data === undefined ? 'quiet' : chooseTone(data.kind, feature.data);
  const why = data && findDecisive(data.reasons);
  return (
    <section class={`panel flag-verdict panel-${tone}`} aria-labelledby="flag-verdict">
      <div>
        <h2 id="flag-verdict">{data ? formatHeading(data, feature.data, format).heading : beforeVerdict(error)}</h2>
        {why && <p>{reasonText(why, format)}</p>}
      </div>
      <Actions place={place} feature={feature} suggested={data?.actions ?? []} />
    </section>
  );
}

export function Reasons({ place, feature }: FeatureProps) {
  const { data } = useVerdict(place);
  const also = data && formatHeading(data, feature.data, format).also;
  return (
    <section aria-labelledby="flag-reasons">
      <h2 id="flag-reasons">Reasons</h2>
      <ul class="flag-reasons">
        {also && <li>{also}.</li>}
        {data?.reasons.map((reason) =>
          reason.code === 'undeclared' ? (
            <Undeclared key={reason.code} place={place} nearest={data.nearest} />
          ) : (
            <li key={reason.text}>{reasonText(reason, format)}</li>
          ),
        )}
        <SplitReason place={place} />
      </ul>
    </section>
  );
}

function beforeVerdict(error: unknown): string {
  return error === undefined ? 'Computing the verdict …' : `The verdict cannot be read: ${describeError(error)}`;
}

/** A note on an undeclared name, which might be misspelt. */
function Undeclared({ place, nearest }: { readonly place: FeaturePlace; readonly nearest: string | null }) {
  const { query } = useQuery();
  if (nearest === null) return <li>The flag is not declared.</li>;
  const address = featureAddress({ ...place, name: nearest }, query);
  return (
    <li>
      The flag is not declared. Its name is similar to <a href={address}>{nearest}</a>, and might be misspelt.
    </li>
  );
}

const snoozeMs = 30 * 86_400_000;

interface ActionsProps extends FeatureProps {
  readonly suggested: readonly VerdictAction[];
}

type Change = Exclude<VerdictAction, 'copy' | 'declare'> | 'not permanent' | 'end snooze';

/** The changes behind the actions: label, changed fields, announcement. */
const changes: Readonly<Record<Change, readonly [label: string, patch: () => FeaturePatch, done: string]>> = {
  snooze: ['Snooze for 30 days', () => ({ snoozedUntil: later(snoozeMs) }), 'Snoozed for 30 days'],
  permanent: ['Mark as permanent', () => ({ permanent: true }), 'Marked as permanent'],
  archive: ['Archive', () => ({ archived: true }), 'Flag archived'],
  unarchive: ['Unarchive', () => ({ archived: false }), 'Flag unarchived'],
  'not permanent': ['Mark as temporary', () => ({ permanent: false }), 'Marked as temporary'],
  'end snooze': ['End snooze', () => ({ snoozedUntil: null }), 'Snooze ended'],
};

const others = {
  copy: ['Copy for clean-up', undefined, 'Copied'],
  declare: ['Declare flag', undefined, 'Flag declared'],
} as const;

/** The first suggested action as a button, and the other actions in a menu. */
function Actions({ place, feature, suggested }: ActionsProps) {
  const { busy, refusal, run } = useAction();
  const { dialog, change } = useFeatureChange(place);
  const offered = listOffered(feature.data, suggested);
  const items = offered.map((action) => {
    const [label, patch, done] = action === 'copy' || action === 'declare' ? others[action] : changes[action];
    function onSelect() {
      if (action === 'copy') void copyAloud(cleanupText(place.name, listVariants(feature.data)));
      else run(() => (patch === undefined ? declare(place) : change(feature, patch())), done);
    }
    return { label, onSelect };
  });
  const primary = suggested.some((action) => action === offered[0]) ? items.shift() : undefined;
  return (
    <div class="actions">
      {primary && (
        <button type="button" class="primary" disabled={busy} onClick={primary.onSelect}>
          {primary.label}
        </button>
      )}
      {items.length > 0 && <Menu label={primary ? 'More actions' : 'Actions'} items={items} end />}
      {refusal}
      {dialog}
    </div>
  );
}

/** Lists the actions that the reader can take, the suggested actions first. */
function listOffered(detail: FeatureDetail, suggested: readonly VerdictAction[]): readonly (VerdictAction | Change)[] {
  const snoozed = isSnoozed(detail);
  const all = listActions(suggested, detail, snoozed);
  if (!hasRole('User')) return all.filter((action) => action === 'copy');
  return [...all, detail.permanent && ('not permanent' as const), snoozed && ('end snooze' as const)].filter(
    (action) => action !== false,
  );
}

function isSnoozed({ snoozedUntil }: FeatureDetail): boolean {
  return snoozedUntil !== null && Date.parse(snoozedUntil) > currentTime();
}

function later(ms: number): string {
  return new Date(currentTime() + ms).toISOString();
}
