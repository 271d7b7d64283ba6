import type { ComponentChildren } from 'preact';
import type { LedgerEntry } from '../../../contract/shapes/ledger.ts';
import { applicationSettingsAddress, useQuery } from '../../address/address.ts';
import { Ago } from '../../parts/table/columns.tsx';
import { format, plural } from '../../text/format.ts';
import { KeyLink } from './keys.tsx';
import { adviceOn, leakAdvice, type Reason, reasonsOf } from './reasons.ts';

interface ReasonsProps {
  readonly app: string;
  readonly entries: readonly LedgerEntry[];
}

/** Why something was refused, or not counted as sent, and the remedy. */
export function Reasons({ app, entries }: ReasonsProps) {
  const reasons = reasonsOf(entries);
  return (
    <section class="stack" aria-labelledby="ingest-why">
      <h2 id="ingest-why">Problems and remedies</h2>
      {reasons.length === 0 ? (
        <p class="good">No problems: everything was accepted, and counted as sent.</p>
      ) : (
        <ul class="plain-list ingest-reasons">
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
  const { code, outcome, status, count, lastAt, senders } = reason;
  const { meaning, remedy } = code === 'unknown_key' ? leakAdvice : adviceOn(code);
  const show = () => change({ reason: code, outcome: undefined, sender: undefined }, true);
  return (
    <li class={`panel ${outcome === 'refused' ? 'panel-bad' : 'panel-warn'}`}>
      <h3>
        <span class={outcome === 'refused' ? 'bad' : 'warn'}>
          {format.full(count)} {outcome}
        </span>{' '}
        {meaning}
      </h3>
      <p>
        <strong>What to do:</strong> {remedy}
      </p>
      <Example app={app} reason={reason} />
      <p class="quiet">
        <code>{code}</code> {outcome === 'refused' && `answered ${status} · `}
        {outcome === 'noted' && '· '}
        last one <Ago at={lastAt} />
        {' · '}
        <button type="button" class="link" onClick={show}>
          {plural(senders.length, 'sender')}
        </button>
        {(code === 'origin_not_allowed' || code === 'rate_limited') && (
          <>
            {' · '}
            <a href={applicationSettingsAddress(app)}>Application settings</a>
          </>
        )}
      </p>
    </li>
  );
}

interface ExampleProps {
  readonly app: string;
  readonly reason: Reason;
}

/** Details of the last one, to find the sender. */
function Example({ app, reason: { outcome, last, senders, example } }: ExampleProps) {
  const { keyId, keyName, keyPrefix, keyType } = example ?? {};
  const facts: [name: string, value: ComponentChildren][] = [
    ['From', senders[0]?.name],
    ['Origin', example?.origin],
    ['Environment', example?.environment ?? last.environment ?? undefined],
    [
      'Key',
      keyId !== undefined && keyName !== undefined ? (
        <>
          <KeyLink app={app} of={{ id: keyId, name: keyName }} /> ({keyType})
        </>
      ) : (
        keyPrefix !== undefined && `${keyPrefix}… (${keyType})`
      ),
    ],
    [outcome === 'noted' ? 'Entry' : 'Answer', example?.detail],
  ];
  return (
    <dl class="ingest-example">
      {facts.map(
        ([name, value]) =>
          value && (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ),
      )}
    </dl>
  );
}
