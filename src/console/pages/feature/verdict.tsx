import type { Verdict } from '../../../contract/shapes/verdict.ts';
import { findDecisive, verdictRules } from '../../../contract/verdicts.ts';
import { featureAddress, useQuery } from '../../address/address.ts';
import { usePoll } from '../../api/poll.ts';
import { describeError } from '../../api/problem.ts';
import { useAction } from '../../components/action.tsx';
import { copyAloud } from '../../components/copy.tsx';
import { Dialog, useDialog } from '../../components/dialog.tsx';
import { Menu } from '../../components/menu.tsx';
import { hasRole } from '../../reader/reader.tsx';
import { format } from '../../text/format.ts';
import { declare, type FeaturePlace, type FeatureProps, featurePath, useFeatureChange } from './change.tsx';
import { KeepForm } from './settings.tsx';
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
        {/* The line is rendered before its reason is known, so that the reason does not move the tabs. */}
        <p>{why ? reasonText(why, format) : '\u00a0'}</p>
      </div>
      {/* The actions wait for the verdict, because its button is before the menu and would move the menu later. */}
      {(data ?? error) !== undefined && <Actions place={place} feature={feature} verdict={data} />}
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

type Action = ReturnType<typeof listActions>[number];

const labels: Readonly<Record<Action, readonly [label: string, done: string]>> = {
  copy: ['Copy for clean-up', 'Copied'],
  keep: ['Keep until …', ''],
  archive: ['Archive', 'Flag archived'],
  unarchive: ['Unarchive', 'Flag unarchived'],
  declare: ['Declare flag', 'Flag declared'],
};

/** The action that follows from the verdict as a button, and the other actions in a menu. */
function Actions({ place, feature, verdict }: FeatureProps & { readonly verdict: Verdict | undefined }) {
  const { busy, refusal, run } = useAction();
  const { dialog, change } = useFeatureChange(place);
  const keep = useDialog();
  const all = listActions(verdict?.actions ?? [], feature.data);
  const items = (hasRole('User') ? all : all.filter((action) => action === 'copy')).map((action) => {
    const [label, done] = labels[action];
    function onSelect() {
      if (action === 'copy') void copyAloud(cleanupText(place.name, listVariants(feature.data)));
      else if (action === 'keep')
        keep.open(
          <Dialog title={`Keep ${place.name}`} onClose={keep.close}>
            <KeepForm place={place} feature={feature} onCancel={keep.close} />
          </Dialog>,
        );
      else
        run(() => (action === 'declare' ? declare(place) : change(feature, { archived: action === 'archive' })), done);
    }
    return { label, onSelect };
  });
  // A flag that stays needs no action.
  const isKept = verdict === undefined || (verdict.declared && verdictRules[verdict.kind].advice === 'keep');
  const primary = isKept ? undefined : items.shift();
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
      {keep.element}
    </div>
  );
}
