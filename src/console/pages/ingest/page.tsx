/*
 * src/console/pages/ingest: accepted and refused packets and reports. page.tsx lists reasons of refusals with remedies,
 * senders.tsx senders, versions.tsx versions of a program, keys.tsx names of keys. Other files contain computations.
 */

import type { ComponentChildren } from 'preact';
import { senderProgram } from '../../../contract/programs.ts';
import type { IngestReport, LedgerEntry } from '../../../contract/shapes/ledger.ts';
import type { Overview } from '../../../contract/shapes/overview.ts';
import { applicationSettingsAddress, useQuery } from '../../address/address.ts';
import type { InEnvironment } from '../../address/place.ts';
import { boundsQuery, overviewQuery } from '../../address/range.ts';
import { resource, withQuery } from '../../api/client.ts';
import { usePoll } from '../../api/poll.ts';
import { useMarkers } from '../../components/chart/activity-markers.ts';
import { Chart } from '../../components/chart/chart.tsx';
import { bucketAt } from '../../components/chart/series.ts';
import { RangePicker, useRange } from '../../components/choices/range.tsx';
import { Pending, Reason, Skeleton } from '../../components/failure.tsx';
import { Filter, type Options, withChosen } from '../../components/form/filters.tsx';
import { Help } from '../../components/help.tsx';
import { Ago } from '../../components/table/columns.tsx';
import { format, plural } from '../../text/format.ts';
import { KeyLink, useKeys } from './keys.tsx';
import { adviceOn, type LedgerReason, leakAdvice, listReasons } from './reasons.ts';
import { Senders, Unattributed } from './senders.tsx';
import { Versions } from './versions.tsx';

export function IngestPage({ application: app, environment: env }: InEnvironment) {
  const { bounds, everyMs } = useRange();
  const keys = useKeys(app);
  const query = { environment: env, unnamed: true, ...boundsQuery(bounds) };
  const { data, error } = usePoll<IngestReport>(withQuery(resource('applications', app, 'ingest'), query), everyMs);
  return (
    <div class="stack ingest">
      <header class="head spread">
        <h1>Ingest</h1>
        <RangePicker />
      </header>
      <Ledger app={app} env={env} ledger={data} error={error} />
      <Unattributed app={app} keys={keys} />
    </div>
  );
}

interface PlaceProps {
  readonly app: string;
  readonly env: string;
}

interface LedgerProps extends PlaceProps {
  readonly ledger: IngestReport | undefined;
  readonly error: unknown;
}

function Ledger({ app, env, ledger, error }: LedgerProps) {
  const { program = '' } = useQuery().query;
  if (ledger === undefined) return <Pending error={error} />;
  return (
    <>
      <section class="stack" aria-labelledby="ingest-sums">
        <h2 id="ingest-sums">
          <Help to="semantics#the-ledger">Accepted and refused</Help>
        </h2>
        <p class="ingest-sums">
          <span>
            <strong>{format.full(ledger.accepted)}</strong> accepted
          </span>
          <span class={ledger.refused > 0 ? 'bad' : 'quiet'}>
            <strong>{format.full(ledger.refused)}</strong> refused (
            {format.rate(ledger.refused, ledger.accepted + ledger.refused)})
          </span>
          <span class={ledger.noted > 0 ? 'warn' : 'quiet'}>
            <strong>{format.full(ledger.noted)}</strong> accepted with a warning
          </span>
        </p>
        <p class="quiet">
          Packets and reports for {env}, in whole hours from {format.time(ledger.from)} to {format.time(ledger.to)}.
        </p>
        <Unnamed counts={ledger.unnamed} />
        <div class="filters">
          <Filter name="program" label="Split by" options={listSplits(ledger.entries, program)} />
        </div>
        {program ? <Versions app={app} env={env} program={program} /> : <Hours app={app} env={env} />}
      </section>
      <Reasons entries={ledger.entries} app={app} />
      <Senders entries={ledger.entries} leftOut={ledger.entriesLeftOut} env={env} />
    </>
  );
}

/** Returns the choices of the chart: by outcome, or by the versions of a program. */
function listSplits(entries: readonly LedgerEntry[], chosen: string): Options {
  const programs = new Set(entries.map(({ sender: { userAgent, instance } }) => senderProgram(userAgent, instance)));
  const all = withChosen(
    Array.from(programs, (name) => [name] as const),
    [chosen].filter(Boolean),
  );
  const sorted = all.toSorted(([one], [other]) => (one < other ? -1 : 1));
  return [['', 'Outcome'], ...sorted.map(([name]) => [name, `Version of ${name}`] as const)];
}

/** Shows the number of messages that do not belong to an environment. */
function Unnamed({ counts: { accepted, refused } }: { readonly counts: IngestReport['unnamed'] }) {
  if (accepted + refused === 0) return null;
  const parts = [
    accepted > 0 && `${format.full(accepted)} accepted (requests for instance ids)`,
    refused > 0 && `${format.full(refused)} refused`,
  ];
  return (
    <p class="quiet">
      Messages that name no environment of this application are not included:{' '}
      {format.list(parts.filter((part) => part !== false))}. They are listed below.
    </p>
  );
}

/** Shows the accepted and refused messages by hour. They come from the overview, whose response all readers share. */
function Hours({ app, env }: PlaceProps) {
  const { range, bounds, comparison, everyMs, zoom } = useRange();
  const query = { environment: env, ...overviewQuery(range, bounds, comparison) };
  const { data, error } = usePoll<Overview>(withQuery(resource('applications', app, 'overview'), query), everyMs);
  const markers = useMarkers({ application: app, environment: env }, undefined, bounds);
  if (data === undefined) return error === undefined ? <Skeleton kind="chart" /> : <Reason error={error} />;
  if (data.hourly.length < 3) return null;
  const { start, length, accepted, refused } = data.hourly;
  const buckets = { start, width: 3600, count: length };
  return (
    <Chart
      title="Accepted and refused"
      buckets={buckets}
      series={[
        { label: 'Accepted', values: accepted, tone: 1 },
        { label: 'Refused', values: refused, tone: 2 },
      ]}
      kind="lines"
      markers={markers}
      unfinishedFrom={bucketAt(buckets, Date.parse(data.at) / 1000)}
      onZoom={zoom}
      height={190}
    />
  );
}

interface ReasonsProps {
  readonly app: string;
  readonly entries: readonly LedgerEntry[];
}

function Reasons({ app, entries }: ReasonsProps) {
  const reasons = listReasons(entries);
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

function Card({ app, reason }: { readonly app: string; readonly reason: LedgerReason }) {
  const { change } = useQuery();
  const { code, outcome, status, count, lastAt, senders } = reason;
  const { meaning, remedy } = code === 'unknown_key' ? leakAdvice : adviceOn(code);
  const show = () => change({ reason: code, outcome: undefined, sender: undefined }, true);
  return (
    <li class={`panel ${outcome === 'refused' ? 'panel-bad' : 'panel-warn'}`}>
      <h3>
        <span class={outcome === 'refused' ? 'bad' : 'warn'}>
          {format.full(count)} {outcome === 'noted' ? 'accepted with a warning' : outcome}
        </span>{' '}
        {meaning}
      </h3>
      <p>
        <strong>What to do:</strong> {remedy}
      </p>
      <Example app={app} reason={reason} />
      <p class="quiet">
        <code>{code}</code> {outcome === 'refused' && `status ${status} · `}
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
  readonly reason: LedgerReason;
}

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
    [outcome === 'noted' ? 'Entry' : 'Response', example?.detail],
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
