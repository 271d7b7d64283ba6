import type { FeatureDetail, FeaturePatch } from '../../../contract/shapes/feature.ts';
import type { Verdict, VerdictAction } from '../../../contract/shapes/verdict.ts';
import { featureAddress, useQuery } from '../../address/address.ts';
import { currentTime } from '../../api/clock.ts';
import { usePoll } from '../../api/poll.ts';
import { describeError } from '../../api/problem.ts';
import { useAction } from '../../components/action.tsx';
import { CopyButton } from '../../components/copy.tsx';
import { hasRole } from '../../reader/reader.tsx';
import { format } from '../../text/format.ts';
import { DeclareButton, type FeaturePlace, type FeatureProps, featurePath, useFeatureChange } from './change.tsx';
import { SplitReason } from './split.tsx';
import { chooseTone, cleanupText, formatHeading, listActions, reasonText } from './verdict-words.ts';

const everyMs = 10_000;

export function VerdictSection({ place, feature }: FeatureProps) {
  const { data: detail } = feature;
  const { data, error } = usePoll<Verdict>(featurePath(place, 'verdict'), everyMs);
  const said = data && formatHeading(data, detail, format);
  const tone = data === undefined ? 'quiet' : chooseTone(data.kind, detail);
  return (
    <section class={`panel flag-verdict panel-${tone}`} aria-labelledby="flag-verdict">
      <h2 id="flag-verdict">{said?.heading ?? beforeVerdict(error)}</h2>
      <ul>
        {said?.also && <li>{said.also}.</li>}
        {data?.reasons.map((reason) =>
          reason.code === 'undeclared' ? (
            <Undeclared key={reason.code} place={place} nearest={data.nearest} />
          ) : (
            <li key={reason.text}>{reasonText(reason, format)}</li>
          ),
        )}
        <SplitReason place={place} />
      </ul>
      <Actions place={place} feature={feature} suggested={data?.actions ?? []} />
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

/** The changes behind the buttons: label, changed fields, announcement. */
const changes: Readonly<Record<Change, readonly [label: string, patch: () => FeaturePatch, done: string]>> = {
  snooze: ['Snooze for 30 days', () => ({ snoozedUntil: later(snoozeMs) }), 'Snoozed for 30 days'],
  permanent: ['Mark as permanent', () => ({ permanent: true }), 'Marked as permanent'],
  archive: ['Archive', () => ({ archived: true }), 'Flag archived'],
  unarchive: ['Unarchive', () => ({ archived: false }), 'Flag unarchived'],
  'not permanent': ['Mark as temporary', () => ({ permanent: false }), 'Marked as temporary'],
  'end snooze': ['End snooze', () => ({ snoozedUntil: null }), 'Snooze ended'],
};

function Actions({ place, feature, suggested }: ActionsProps) {
  const { data: detail } = feature;
  const { busy, refusal, run } = useAction();
  const { dialog, change: changeFeature } = useFeatureChange(place);
  const variants = detail.environments.flatMap((each) => each.variants.map(({ variant }) => variant));
  const snoozed = isSnoozed(detail);
  const mayChange = hasRole('User');
  const button = (change: Change) => {
    const [label, patch, done] = changes[change];
    const onClick = () => run(() => changeFeature(feature, patch()), done);
    return (
      <button key={change} type="button" disabled={busy} onClick={onClick}>
        {label}
      </button>
    );
  };
  return (
    <div class="actions">
      {listActions(suggested, detail, snoozed).map((action) => {
        if (action !== 'copy' && !mayChange) return null;
        if (action === 'declare') return <DeclareButton key={action} place={place} />;
        if (action !== 'copy') return button(action);
        const text = () => cleanupText(place.name, [...new Set(variants)]);
        return <CopyButton key={action} label="Copy for cleanup" text={text} />;
      })}
      {mayChange && detail.permanent && button('not permanent')}
      {mayChange && snoozed && button('end snooze')}
      {refusal}
      {dialog}
    </div>
  );
}

function isSnoozed({ snoozedUntil }: FeatureDetail): boolean {
  return snoozedUntil !== null && Date.parse(snoozedUntil) > currentTime();
}

function later(ms: number): string {
  return new Date(currentTime() + ms).toISOString();
}
