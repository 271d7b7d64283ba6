import { useMemo } from 'preact/hooks';
import type { RolloutStep } from '../../../contract/shapes/feature.ts';
import type { UsageReport } from '../../../contract/shapes/reports.ts';
import { boundsQuery } from '../../address/range.ts';
import { resource, withQuery } from '../../api/client.ts';
import { usePoll } from '../../api/poll.ts';
import { Chart } from '../../components/chart/chart.tsx';
import { type Buckets, createBuckets } from '../../components/chart/series.ts';
import { useRange } from '../../components/choices/range.tsx';
import { Field, SelectField } from '../../components/form/form.tsx';
import { Help } from '../../components/help.tsx';
import { type EditProps, FeatureForm, type FeaturePlace, type FeatureProps } from './change.tsx';
import { useSplit } from './split.tsx';
import { listVariants, plannedShare, plannedShares, shareIn, shownVariant, splitVariants } from './traffic.ts';

export function RolloutSection({ place, feature }: FeatureProps) {
  const { rollout } = feature.data;
  const split = useSplit(place);
  if (rollout === null) return null;
  return (
    <section aria-labelledby="flag-rollout">
      <h2 id="flag-rollout">
        <Help to="semantics#intended-and-actual-split">Rollout plan</Help>
      </h2>
      {split?.text && <p class="callout callout-warn">{split.text}</p>}
      <Shares place={place} steps={rollout} />
    </section>
  );
}

const everyMs = 30_000;

function Shares({ place, steps }: { readonly place: FeaturePlace; readonly steps: readonly RolloutStep[] }) {
  const { application, environment, name } = place;
  const { bounds, live } = useRange();
  const query = { environment, feature: name, ...boundsQuery(bounds) };
  const path = withQuery(resource('applications', application, 'usage'), query);
  const { data } = usePoll<UsageReport>(path, live ? everyMs : undefined);
  const variant = shownVariant(steps);
  const buckets = useMemo<Buckets>(() => createBuckets(bounds), [bounds]);
  const series = useMemo(() => {
    return [
      { label: 'planned', values: plannedShares(steps, variant, buckets), tone: 2 as const, steps: true },
      { label: 'actual, share of checks', values: shareIn(data?.features[0], variant, buckets), tone: 1 as const },
    ];
  }, [steps, variant, data, buckets]);
  return <Chart title={`Share of ${variant}, %`} buckets={buckets} series={series} kind="lines" height={160} />;
}

const most = 6;

/** A form for the share of one variant at each step. The other variant gets the remaining share. */
export function RolloutForm({ place, feature, onCancel }: EditProps) {
  const { data: detail } = feature;
  const steps = detail.rollout ?? [];
  const variants = splitVariants(steps.at(0)?.split ?? detail.split, listVariants(detail));
  const variant = steps.length > 0 ? shownVariant(steps) : variants.at(-1);
  const rest = variants.find((each) => each !== variant);
  function patch(data: FormData) {
    const on = String(data.get('variant'));
    const off = String(data.get('rest'));
    const dates = data.getAll('at').map(String);
    const percents = data.getAll('percent').map(String);
    const rollout = dates.flatMap((date, index) => {
      const percent = Number(percents[index]);
      if (date === '' || percents[index] === '') return [];
      const split = { ...(percent > 0 && { [on]: percent }), ...(percent < 100 && { [off]: 100 - percent }) };
      return [{ at: `${date}:00Z`, split }];
    });
    return { rollout: rollout.length === 0 ? null : rollout };
  }
  return (
    <FeatureForm place={place} feature={feature} patch={patch} what="rollout plan" onCancel={onCancel}>
      <div class="experiment-fields">
        <SelectField name="variant" label="Variant" value={variant} options={variants.map((each) => [each])} />
        <SelectField name="rest" label="The rest gets" value={rest} options={variants.map((each) => [each])} />
      </div>
      {Array.from({ length: Math.max(3, Math.min(most, steps.length + 1)) }, (_, index) => {
        const step = steps[index];
        const of = step && plannedShare(step, variant ?? '');
        return (
          <div class="rollout-step" key={index}>
            <Field
              name="at"
              label={`Step ${index + 1}: from (UTC)`}
              type="datetime-local"
              value={step?.at.slice(0, 16) ?? ''}
            />
            <Field
              name="percent"
              label={`Step ${index + 1}: percent`}
              type="number"
              value={of === undefined ? '' : String(of)}
            />
          </div>
        );
      })}
      <p class="hint">Empty steps are ignored. If all steps are empty, the plan is removed.</p>
    </FeatureForm>
  );
}
