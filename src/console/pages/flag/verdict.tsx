import type { FeatureDetail } from '../../../contract/shapes/feature.ts';
import type { Verdict, VerdictAction } from '../../../contract/shapes/verdict.ts';
import { environmentAddress, kept, useQuery } from '../../address.ts';
import { withQuery } from '../../api/client.ts';
import { usePoll } from '../../api/poll.ts';
import { messageOf } from '../../api/problem.ts';
import { currentTime } from '../../clock.ts';
import { format } from '../../format.ts';
import { useAction } from '../../parts/action.tsx';
import { CopyButton } from '../../parts/copy.tsx';
import { changeFlag, DeclareButton, type FlagPlace, flagPath } from './change.tsx';
import { actionsOf, cleanupText, headingOf, reasonText, toneOf } from './verdict-words.ts';

const everyMs = 10_000;

interface SectionProps {
  readonly place: FlagPlace;
  readonly detail: FeatureDetail;
}

/** The verdict on the flag, its reasons, and the next steps. */
export function VerdictSection({ place, detail }: SectionProps) {
  const { data, error } = usePoll<Verdict>(flagPath(place, 'verdict'), everyMs);
  const tone = data === undefined ? 'quiet' : toneOf[data.kind];
  return (
    <section class={`panel flag-verdict panel-${tone}`} aria-labelledby="flag-verdict">
      <h2 id="flag-verdict">
        {data === undefined ? beforeVerdict(error) : headingOf(data, detail.snoozedUntil, format)}
      </h2>
      <ul>
        {data?.reasons.map((reason) => (
          <li key={reason.text}>{reasonText(reason, format)}</li>
        ))}
        {!detail.declared && <Undeclared place={place} nearest={detail.nearest} />}
      </ul>
      <Actions place={place} detail={detail} suggested={data?.actions ?? []} />
    </section>
  );
}

function beforeVerdict(error: unknown): string {
  return error === undefined ? 'Computing the verdict …' : `The verdict cannot be read: ${messageOf(error)}`;
}

/** An undeclared name may be misspelt. */
function Undeclared({ place, nearest }: { readonly place: FlagPlace; readonly nearest: string | null }) {
  const { query } = useQuery();
  const { application, environment } = place;
  if (nearest === null) return <li>It is not declared.</li>;
  const address = withQuery(environmentAddress(application, environment, 'flag'), {
    ...kept(query),
    name: nearest,
  });
  return (
    <li>
      It is not declared. Its name is similar to <a href={address}>{nearest}</a>: it may be misspelt.
    </li>
  );
}

const snoozeMs = 30 * 86_400_000;

interface ActionsProps extends SectionProps {
  readonly suggested: readonly VerdictAction[];
}

/** The next steps, the suggested ones first. */
function Actions({ place, detail, suggested }: ActionsProps) {
  const { busy, refusal, run } = useAction();
  const variants = [
    ...new Set(detail.environments.flatMap((each) => each.variants.map(({ variant }) => variant))),
  ];
  const change = (patch: object, done: string) => run(() => changeFlag(place, patch), done);
  const buttons: Readonly<Record<Exclude<VerdictAction, 'copy' | 'declare'>, readonly [string, () => void]>> =
    {
      snooze: ['Snooze 30 days', () => change({ snoozedUntil: later(snoozeMs) }, 'Snoozed for 30 days')],
      permanent: ['Permanent', () => change({ permanent: true }, 'The flag is permanent')],
      archive: ['Archive', () => change({ archived: true }, 'The flag is archived')],
      unarchive: ['Unarchive', () => change({ archived: false }, 'The flag is no longer archived')],
    };
  return (
    <div class="actions">
      {actionsOf(suggested, detail, isSnoozed(detail)).map((action) => {
        if (action === 'declare') return <DeclareButton key={action} place={place} />;
        if (action === 'copy')
          return (
            <CopyButton
              key={action}
              label="Copy for cleanup"
              text={() => cleanupText(place.name, variants)}
            />
          );
        const [label, run] = buttons[action];
        return (
          <button key={action} type="button" disabled={busy} onClick={run}>
            {label}
          </button>
        );
      })}
      {detail.permanent && (
        <button
          type="button"
          disabled={busy}
          onClick={() => change({ permanent: false }, 'The flag is no longer permanent')}
        >
          Not permanent
        </button>
      )}
      {isSnoozed(detail) && (
        <button
          type="button"
          disabled={busy}
          onClick={() => change({ snoozedUntil: null }, 'The flag is no longer snoozed')}
        >
          End the snooze
        </button>
      )}
      {refusal}
    </div>
  );
}

function isSnoozed({ snoozedUntil }: FeatureDetail): boolean {
  return snoozedUntil !== null && Date.parse(snoozedUntil) > currentTime();
}

function later(ms: number): string {
  return new Date(currentTime() + ms).toISOString();
}
