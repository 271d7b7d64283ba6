import { useSignal } from '@preact/signals';
import type { Experiment, Power } from '../../../contract/shapes/experiment.ts';
import type { FeatureDetail } from '../../../contract/shapes/feature.ts';
import type { Metric } from '../../../contract/shapes/metric.ts';
import { call, resource, withQuery } from '../../api/client.ts';
import { currentTime } from '../../api/clock.ts';
import { useWholeList } from '../../api/list.ts';
import { forget, usePoll } from '../../api/poll.ts';
import { Dialog, useDialog } from '../../components/dialog.tsx';
import { ExperimentState } from '../../components/experiment-state.tsx';
import { Field, Form, SelectField } from '../../components/form/form.tsx';
import { Help } from '../../components/help.tsx';
import { hasRole } from '../../reader/reader.tsx';
import { experimentAddress } from '../experiments/page.tsx';
import { type FeaturePlace, featurePath } from './change.tsx';
import { Comparison } from './comparison.tsx';

const everyMs = 30_000;
const dayMs = 86_400_000;

interface SectionProps {
  readonly place: FeaturePlace;
  readonly detail: FeatureDetail;
}

/**
 * The latest experiment of the flag. If a flag has no planned experiment, its variants are compared over the selected
 * range. Next to an experiment, such a comparison could contradict its result.
 */
export function ExperimentSection({ place, detail }: SectionProps) {
  const { application, environment, name } = place;
  const path = resource('applications', application, 'experiments');
  const { items } = useWholeList<Experiment>(path, { feature: name, environment }, everyMs);
  const dialog = useDialog();
  const plan = () => dialog.open(<PlanDialog place={place} detail={detail} onClose={dialog.close} />);
  return (
    <section aria-labelledby="flag-experiments">
      <div class="head flag-bar">
        <h2 id="flag-experiments">Experiment</h2>
        {hasRole('User') && (
          <button type="button" onClick={plan}>
            Plan experiment
          </button>
        )}
      </div>
      {items?.length === 0 && <p class="quiet">No experiment is planned in {environment}.</p>}
      <ul class="plain-list">
        {items?.toReversed().map((each) => (
          <li key={each.id}>
            <span>
              <a href={experimentAddress(application, environment, each.id)}>{each.name}</a>{' '}
              <ExperimentState experiment={each} /> {each.verdict ?? each.progress.text}
            </span>
          </li>
        ))}
      </ul>
      {items?.every(({ state }) => state === 'planned') && <Comparison place={place} />}
      {dialog.element}
    </section>
  );
}

const directions = [
  ['up', 'Higher is better'],
  ['down', 'Lower is better'],
] as const;

const usualDays = 14;

function PlanDialog({ place, detail, onClose }: SectionProps & { readonly onClose: () => void }) {
  const { application, environment, name } = place;
  const seen = detail.environments.find((each) => each.environment === environment)?.variants ?? [];
  const variants = [...new Set([...Object.keys(detail.split ?? {}), ...seen.map(({ variant }) => variant)])].sort();
  const declared = useWholeList<Metric>(resource('applications', application, 'metrics'), { declared: true });
  const counters = declared.items?.filter(({ kind }) => kind === 'counter').map((each) => each.name) ?? [];
  const metrics = ['used', 'viewed', ...counters].map((each) => [each] as const);
  const metric = useSignal('used');
  const power = usePoll<Power>(
    withQuery(featurePath(place, 'power')!, { environment, metric: metric.value }),
    undefined,
  ).data;
  async function send(data: FormData) {
    const body = planIn(place, data);
    await call('POST', resource('applications', application, 'experiments'), { body });
    forget(resource('applications', application, 'experiments'));
    onClose();
  }
  return (
    <Dialog title={`Plan experiment on ${name}`} onClose={onClose}>
      <p class="quiet">
        <Help to="semantics#experiments">Whole UTC days</Help> are compared. Once the experiment has started, its plan
        cannot be changed.
      </p>
      <Form onSubmit={send} submit="Plan experiment" done="Experiment planned" onCancel={onClose}>
        <Field name="name" label="Name" required autoFocus maxLength={120} />
        <Field name="hypothesis" label="Hypothesis" maxLength={1000} hint="What you expect, and why." />
        <PlanFields
          variants={variants}
          metrics={metrics}
          onMetric={(value) => {
            metric.value = value;
          }}
        />
        <p role="status">{power === undefined ? 'Estimating the time …' : `Power: ${power.text}`}</p>
      </Form>
    </Dialog>
  );
}

function planIn({ environment, name: feature }: FeaturePlace, data: FormData): object {
  const text = (field: string) => String(data.get(field) ?? '').trim();
  const guardrail = {
    metric: text('guardrail'),
    direction: text('guardrailDirection'),
    tolerated: Number(text('tolerated')) / 100,
  };
  return {
    feature,
    environment,
    name: text('name'),
    hypothesis: text('hypothesis') || null,
    base: text('base'),
    metric: text('metric'),
    direction: text('direction'),
    startAt: formatMidnight(text('startAt')),
    endAt: text('endAt') === '' ? null : formatMidnight(text('endAt')),
    users: text('users') === '' ? null : Number(text('users')),
    guardrails: guardrail.metric === '' ? [] : [guardrail],
  };
}

interface FieldsProps {
  readonly variants: readonly string[];
  readonly metrics: readonly (readonly [string])[];
  readonly onMetric: (metric: string) => void;
}

function PlanFields({ variants, metrics, onMetric }: FieldsProps) {
  const start = Math.ceil(currentTime() / dayMs) * dayMs;
  return (
    <div class="experiment-fields">
      <SelectField name="base" label="Base variant" options={variants.map((each) => [each])} />
      <SelectField name="metric" label="Primary metric" options={metrics} onInput={onMetric} />
      <SelectField name="direction" label="Direction" options={directions} />
      <Field name="startAt" label="First day (UTC)" type="date" required value={dateText(start)} />
      <Field
        name="endAt"
        label="End (UTC, exclusive)"
        type="date"
        value={dateText(start + usualDays * dayMs)}
        hint="At least 7 days after the start. If empty, the number of users ends the experiment."
      />
      <Field name="users" label="People per variant" type="number" hint="Optional." />
      <SelectField name="guardrail" label="Guardrail metric" options={[['', 'None'], ...metrics]} />
      <SelectField name="guardrailDirection" label="Guardrail direction" options={directions} />
      <Field name="tolerated" label="Tolerated worsening" type="number" value="1" hint="Per 100 checks." />
    </div>
  );
}

function formatMidnight(date: string): string {
  return `${date}T00:00:00Z`;
}

function dateText(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}
