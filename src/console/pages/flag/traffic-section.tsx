import { useComputed } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { FeatureDetailShown } from '../../../contract/shapes/feature.ts';
import type { UsageShown } from '../../../contract/shapes/reports.ts';
import { useQuery } from '../../address.ts';
import { resource, withQuery } from '../../api/client.ts';
import { usePoll } from '../../api/poll.ts';
import { messageOf } from '../../api/problem.ts';
import { now } from '../../clock.ts';
import { Chart } from '../../parts/chart/chart.tsx';
import { bucketAt, type ChartKind } from '../../parts/chart/series.ts';
import { RangePicker, useRange } from '../../parts/range.tsx';
import { boundsQuery } from '../../range.ts';
import { Choice } from './choice.tsx';
import { Funnel } from './funnel.tsx';
import type { FlagPlace } from './paths.ts';
import { bucketsOf, type Measure, markersOf, measures, seriesOf } from './traffic.ts';

const kinds = ['stacked', 'lines', 'table'] as const satisfies readonly ChartKind[];

/** The figures are not shared with other readers, so they are read less often than those of the overview. */
const liveMs = 5000;

interface TrafficProps {
  readonly place: FlagPlace;
  readonly detail: FeatureDetailShown | undefined;
}

/** How often the flag was asked for, by variant. */
export function TrafficSection({ place, detail }: TrafficProps) {
  const { application, environment, name } = place;
  const { query, change } = useQuery();
  const { bounds, live, zoom } = useRange();
  const measure = measures.find((each) => each === query['show']) ?? 'checks';
  const kind = kinds.find((each) => each === query['kind']) ?? 'stacked';
  const path = withQuery(resource('applications', application, 'usage'), {
    environment,
    feature: name,
    ...boundsQuery(bounds),
  });
  const { data, error } = usePoll<UsageShown>(path, live ? liveMs : undefined);
  const usage = data?.features[0];
  const buckets = useMemo(() => bucketsOf(bounds), [bounds]);
  const series = useMemo(() => seriesOf(usage, buckets, measure), [usage, buckets, measure]);
  const markers = useMemo(() => markersOf(detail, environment), [detail, environment]);
  const current = useComputed(() => bucketAt(buckets, now.value / 1000));
  return (
    <section class="flag-traffic" aria-labelledby="flag-traffic">
      <div class="flag-bar">
        <h2 id="flag-traffic">By variant</h2>
        <RangePicker />
        <Choice
          label="Figure"
          values={measures}
          names={names}
          value={measure}
          onChange={(show) => change({ show })}
        />
        <Choice label="Chart" values={kinds} value={kind} onChange={(kind) => change({ kind })} />
      </div>
      {error !== undefined && <p class="form-error">The figures cannot be read: {messageOf(error)}</p>}
      <Chart
        title={`${names[measure]} by variant`}
        buckets={buckets}
        series={series}
        kind={kind}
        unfinishedFrom={current.value}
        markers={markers}
        onZoom={(from, to) => zoom(from * 1000, to * 1000)}
        csv={`${name}-${measure}`}
      />
      {data !== undefined && usage === undefined && (
        <p class="quiet">No sender has asked for it in this environment in this range.</p>
      )}
      {data !== undefined && usage !== undefined && <Funnel name={name} report={data} usage={usage} />}
    </section>
  );
}

const names: Readonly<Record<Measure, string>> = { checks: 'Checks', used: 'Used', viewed: 'Viewed' };
