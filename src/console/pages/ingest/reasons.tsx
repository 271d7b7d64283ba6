import { useComputed } from '@preact/signals';
import type { LedgerEntryShown } from '../../../contract/shapes/ledger.ts';
import { applicationSettingsAddress, useQuery } from '../../address.ts';
import { now } from '../../clock.ts';
import { format, plural } from '../../format.ts';
import { adviceOn } from './advice.ts';
import { type Reason, reasonsOf } from './reasons.ts';

interface ReasonsProps {
  readonly app: string;
  readonly entries: readonly LedgerEntryShown[];
}

/** Why something was refused or not counted as it was sent, and what to do. */
export function Reasons({ app, entries }: ReasonsProps) {
  const reasons = reasonsOf(entries);
  return (
    <section class="ingest-section" aria-labelledby="ingest-why">
      <h2 id="ingest-why">What is wrong, and what to do</h2>
      {reasons.length === 0 ? (
        <p class="good">Nothing: all that came was accepted and counted as it was sent.</p>
      ) : (
        <ul class="ingest-reasons">
          {reasons.map((reason) => (
            <Card key={`${reason.outcome} ${reason.code}`} app={app} reason={reason} />
          ))}
        </ul>
      )}
    </section>
  );
}

function Card({ app, reason }: { readonly app: string; readonly reason: Reason }) {
  const { change } = useQuery();
  const minute = useComputed(() => Math.floor(now.value / 10_000) * 10_000).value;
  const { code, outcome, status, count, lastAt, senders } = reason;
  const { meaning, remedy } = adviceOn(code);
  const show = () => change({ reason: code, outcome: undefined, sender: undefined }, true);
  return (
    <li class={`ingest-reason ingest-${outcome}`}>
      <h3>
        <span class={outcome === 'refused' ? 'bad' : 'warn'}>
          {format.full(count)} {outcome}
        </span>{' '}
        {meaning}
      </h3>
      <p class="ingest-todo">
        <strong>What to do:</strong> {remedy}
      </p>
      <Example reason={reason} />
      <p class="quiet ingest-foot">
        <code>{code}</code> {outcome === 'refused' && `answered ${status} · `}
        {outcome === 'noted' && '· '}
        last one <time dateTime={lastAt}>{format.relative(lastAt, minute)}</time>
        {' · '}
        <button type="button" class="ingest-link" onClick={show}>
          {plural(senders.length, 'sender')}
        </button>
        {(code === 'origin_not_allowed' || code === 'rate_limited') && (
          <>
            {' · '}
            <a href={applicationSettingsAddress(app)}>Settings of the application</a>
          </>
        )}
      </p>
    </li>
  );
}

/** What is known of the last one, to find the sender by. */
function Example({ reason: { last, senders, example } }: { readonly reason: Reason }) {
  const facts: [name: string, value: string | undefined][] = [
    ['From', senders[0]?.name],
    ['Origin', example?.origin],
    ['Environment', example?.environment ?? last.environment ?? undefined],
    ['Key', example?.keyPrefix === undefined ? undefined : `${example.keyPrefix}… (${example.keyType})`],
    ['Answer', example?.detail],
  ];
  return (
    <dl class="ingest-example">
      {facts.map(([name, value]) =>
        value === undefined ? null : (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ),
      )}
    </dl>
  );
}
