/*
 * src/console/pages/ingest: accepted and refused packets and reports. page.tsx assembles the sections: now.tsx has the state of the
 * server, reasons.tsx the reasons of refusals with their remedies, keys.tsx the keys, and senders.tsx the senders. reasons.ts and
 * programs.ts compute.
 */
import type { ApplicationKey } from '../../../contract/shapes/application-key.ts';
import type { IngestReport } from '../../../contract/shapes/ledger.ts';
import type { Overview } from '../../../contract/shapes/overview.ts';
import type { InEnvironment } from '../../address/place.ts';
import { boundsQuery, overviewQuery } from '../../address/range.ts';
import { resource, withQuery } from '../../api/client.ts';
import { usePoll } from '../../api/poll.ts';
import { useMarkers } from '../../parts/chart/activity-markers.ts';
import { Chart } from '../../parts/chart/chart.tsx';
import { bucketAt } from '../../parts/chart/series.ts';
import { RangePicker, useRange } from '../../parts/choices/range.tsx';
import { Pending } from '../../parts/failure.tsx';
import { Help } from '../../parts/help.tsx';
import { format } from '../../text/format.ts';
import { Keys, useKeys } from './keys.tsx';
import { Now } from './now.tsx';
import { Reasons } from './reasons.tsx';
import { Senders, Unattributed } from './senders.tsx';

export function IngestPage({ application: app, environment: env }: InEnvironment) {
  const { bounds, everyMs } = useRange();
  const keys = useKeys(app);
  const query = { environment: env, unnamed: true, ...boundsQuery(bounds) };
  const { data, error } = usePoll<IngestReport>(
    withQuery(resource('applications', app, 'ingest'), query),
    everyMs,
  );
  return (
    <div class="stack ingest">
      <header class="head spread">
        <h1>Ingest</h1>
        <RangePicker />
      </header>
      <Now />
      <Ledger app={app} env={env} ledger={data} error={error} keys={keys} />
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
  readonly keys: readonly ApplicationKey[];
}

function Ledger({ app, env, ledger, error, keys }: LedgerProps) {
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
            <strong>{format.full(ledger.noted)}</strong> accepted with a note
          </span>
        </p>
        <p class="quiet">
          Packets and reports for {env}, in whole hours from {format.time(ledger.from)} to{' '}
          {format.time(ledger.to)}.
        </p>
        <Unnamed counts={ledger.unnamed} />
        <Hours app={app} env={env} />
      </section>
      <Reasons entries={ledger.entries} app={app} />
      <Keys app={app} keys={keys} />
      <Senders entries={ledger.entries} leftOut={ledger.entriesLeftOut} env={env} />
    </>
  );
}

/** Messages that count for no environment. */
function Unnamed({ counts: { accepted, refused } }: { readonly counts: IngestReport['unnamed'] }) {
  if (accepted + refused === 0) return null;
  const parts = [
    accepted > 0 && `${format.full(accepted)} accepted (requests for instance ids)`,
    refused > 0 && `${format.full(refused)} refused`,
  ];
  return (
    <p class="quiet">
      Not included, because they named no environment of this application:{' '}
      {format.list(parts.filter((part) => part !== false))}. They are listed below.
    </p>
  );
}

/** Accepted and refused by hour, from the overview, whose answer all readers share. */
function Hours({ app, env }: PlaceProps) {
  const { range, bounds, comparison, everyMs, zoom } = useRange();
  const query = { environment: env, ...overviewQuery(range, bounds, comparison) };
  const { data } = usePoll<Overview>(withQuery(resource('applications', app, 'overview'), query), everyMs);
  const markers = useMarkers({ application: app, environment: env }, undefined, bounds);
  if (data === undefined || data.hourly.length < 3) return null;
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
      height={200}
    />
  );
}
