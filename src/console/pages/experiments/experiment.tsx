import { useMemo } from 'preact/hooks';
import type { Experiment, ExperimentResult, Power } from '../../../contract/shapes/experiment.ts';
import type { MeasuredVariant } from '../../../contract/shapes/experiment-figures.ts';
import { environmentAddress, featureAddress, useQuery } from '../../address/address.ts';
import type { InEnvironment } from '../../address/place.ts';
import { call, resource, withQuery } from '../../api/client.ts';
import { forget, usePoll } from '../../api/poll.ts';
import { ApiProblem } from '../../api/problem.ts';
import { Chart } from '../../components/chart/chart.tsx';
import { type ChartSeries, getSeriesTone } from '../../components/chart/series.ts';
import { ExperimentState } from '../../components/experiment-state.tsx';
import { NotFound, Pending } from '../../components/failure.tsx';
import { ConfirmButton } from '../../components/form/confirm.tsx';
import { Field, Form } from '../../components/form/form.tsx';
import { Help } from '../../components/help.tsx';
import { sharesText } from '../../components/split.tsx';
import { UserDays } from '../../components/table/columns.tsx';
import { useTitle } from '../../components/title.ts';
import { hasRole } from '../../reader/reader.tsx';
import { format } from '../../text/format.ts';

const everyMs = 30_000;

export function ExperimentPage({ application: app, environment: env }: InEnvironment) {
  const { query } = useQuery();
  const id = query['id'];
  const path = id === undefined ? undefined : resource('applications', app, 'experiments', id);
  const { data, error } = usePoll<Experiment>(path, everyMs);
  const result = usePoll<ExperimentResult>(path && `${path}/result`, everyMs).data;
  useTitle(data?.name ?? '');
  if (path === undefined || (error instanceof ApiProblem && error.status === 404)) return <NotFound />;
  if (data === undefined) return <Pending error={error} />;
  return (
    <article class="stack">
      <header class="head">
        <p>
          <a href={environmentAddress(app, env, 'experiments')}>Experiments</a>
        </p>
        <h1>{data.name}</h1>
        <ExperimentState experiment={data} />
      </header>
      {data.hypothesis !== null && <p>{data.hypothesis}</p>}
      <ResultSummary app={app} experiment={data} result={result} />
      {result !== undefined && data.state !== 'planned' && <Figures experiment={data} result={result} />}
      <Plan app={app} env={env} experiment={data} />
      {hasRole('User') && <Changes path={path} experiment={data} list={environmentAddress(app, env, 'experiments')} />}
    </article>
  );
}

interface ResultProps {
  readonly app: string;
  readonly experiment: Experiment;
  readonly result: ExperimentResult | undefined;
}

function ResultSummary({ app, experiment, result }: ResultProps) {
  const { state, progress, verdict, stopped } = experiment;
  if (state === 'planned') return <p class="callout">Planned: {progress.text}.</p>;
  if (verdict === null)
    return (
      <>
        <p class="callout">
          Running: {progress.text}. The result is available when the plan is met.
          {result?.detectable != null &&
            ` With this traffic, a difference of ${differenceText(result.metric, result.detectable).replace('+', '')} is found by the planned end with a probability of 80 %.`}
        </p>
        <RunningPower app={app} experiment={experiment} />
      </>
    );
  return (
    <>
      {stopped !== null && <p class="callout callout-warn">Stopped early, not as planned: {stopped}</p>}
      <p class={`callout ${result?.outcome === 'untrustworthy' ? 'callout-warn' : 'callout-difference'}`}>
        <strong>{verdict}</strong>
      </p>
    </>
  );
}

function RunningPower({ app, experiment }: Pick<ResultProps, 'app' | 'experiment'>) {
  const { feature, environment, metric, base } = experiment;
  const path = resource('applications', app, 'features', feature, 'power');
  const power = usePoll<Power>(
    environment === null ? undefined : withQuery(path, { environment, metric, base }),
    undefined,
  ).data;
  if (power === undefined) return null;
  return (
    <p class="quiet">
      {power.points.length > 0 && 'Statistical power at the present traffic, by days since the start: '}
      {power.text}
    </p>
  );
}

interface FiguresProps {
  readonly experiment: Experiment;
  readonly result: ExperimentResult;
}

function Figures({ experiment, result }: FiguresProps) {
  const { metric, base, variants, guardrails, from, to, days, method, split } = result;
  return (
    <>
      <section aria-labelledby="experiment-result">
        <h2 id="experiment-result">{result.frozen ? 'Result' : 'Result so far'}</h2>
        {split === 'off' && <p class="callout callout-warn">Not trustworthy: users are not split as intended.</p>}
        <Intervals metric={metric} base={base} variants={variants} />
        {from !== null && to !== null && (
          <p class="quiet">
            {days} whole UTC days, <UserDays from={from} to={to} />.{' '}
            {method === 'always_valid' ? (
              <>
                <Help to="semantics#experiments">Always-valid intervals</Help> hold however often you look.
              </>
            ) : (
              <>
                <Help to="semantics#experiments">Fixed-horizon intervals</Help> hold at the planned end only.
              </>
            )}
          </p>
        )}
      </section>
      {guardrails.length > 0 && (
        <section aria-labelledby="experiment-guardrails">
          <h2 id="experiment-guardrails">Guardrails</h2>
          {guardrails.map((each) => (
            <div key={each.metric}>
              <p class={each.state === 'worse' ? 'callout callout-warn' : ''}>{each.text}</p>
              <Intervals metric={each.metric} base={base} variants={each.variants} />
            </div>
          ))}
        </section>
      )}
      <Daily experiment={experiment} result={result} />
    </>
  );
}

const daySeconds = 86_400;

function Daily({ experiment, result }: FiguresProps) {
  const { daily, metric } = result;
  const count = daily[0]?.values.length ?? 0;
  const first = Math.ceil(Date.parse(experiment.startAt) / 1000 / daySeconds) * daySeconds;
  const buckets = useMemo(() => ({ start: first, width: daySeconds, count }), [first, count]);
  const series = useMemo(
    () =>
      daily.map(
        ({ variant, values }, index): ChartSeries => ({
          label: variant,
          values: values.map((value) => (value ?? 0) * (isShare(metric) ? 100 : 1)),
          tone: getSeriesTone(index),
        }),
      ),
    [daily, metric],
  );
  if (count < 2) return null;
  const unit = isShare(metric) ? ', % of checks' : ' per check';
  return (
    <section aria-labelledby="experiment-daily">
      <h2 id="experiment-daily">
        {metric} by day{unit}
      </h2>
      <Chart title={`${metric} by day${unit}`} buckets={buckets} series={series} kind="lines" csv="experiment" />
    </section>
  );
}

function Plan({
  app,
  env,
  experiment,
}: {
  readonly app: string;
  readonly env: string;
  readonly experiment: Experiment;
}) {
  const { query } = useQuery();
  const { feature, base, metric, direction, startAt, endAt, users, split, by, guardrails } = experiment;
  const featureLink = featureAddress({ application: app, environment: env, name: feature }, query, 'experiment');
  const facts: readonly (readonly [string, preact.ComponentChildren])[] = [
    ['Flag', <a href={featureLink}>{feature}</a>],
    ['Base variant', base],
    ['Primary metric', `${metric} per check, ${direction === 'up' ? 'higher' : 'lower'} is better`],
    ['Start', format.time(startAt)],
    ['Planned end', endAt === null ? 'when the number of users is reached' : format.time(endAt)],
    ...(users === null ? [] : [['People per variant', format.full(users)] as const]),
    ['Intended split', split === null ? 'as for the flag' : splitText(split)],
    ...guardrails.map(
      ({ metric, direction, tolerated }) =>
        [
          `Guardrail ${metric}`,
          `not ${direction === 'up' ? 'lower' : 'higher'} by more than ${valueText(metric, tolerated)}`,
        ] as const,
    ),
    ['Planned by', by],
  ];
  return (
    <section aria-labelledby="experiment-plan">
      <h2 id="experiment-plan">Plan</h2>
      <dl class="experiment-plan">
        {facts.map(([term, value]) => (
          <div key={term}>
            <dt>{term}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function splitText(split: Readonly<Record<string, number>>): string {
  const all = Object.values(split).reduce((sum, each) => sum + each, 0);
  return sharesText(Object.fromEntries(Object.entries(split).map(([variant, each]) => [variant, each / all])));
}

interface ChangesProps {
  readonly path: string;
  readonly experiment: Experiment;
  readonly list: string;
}

function Changes({ path, experiment, list }: ChangesProps) {
  async function stop(data: FormData) {
    await call('PATCH', path, { body: { stop: String(data.get('stop')) } });
    forget(path);
  }
  async function remove() {
    await call('DELETE', path);
    location.assign(list);
  }
  return (
    <section class="stack" aria-labelledby="experiment-changes">
      <h2 id="experiment-changes">Changes</h2>
      {experiment.state === 'running' && (
        <Form onSubmit={stop} submit="Stop experiment" done="Experiment stopped">
          <Field
            name="stop"
            label="Reason to stop"
            required
            maxLength={500}
            hint="The current result is frozen and marked as stopped early."
          />
        </Form>
      )}
      <p class="actions">
        <ConfirmButton
          label="Delete"
          danger
          title={`Delete ${experiment.name}?`}
          action="Delete experiment"
          done="Experiment deleted"
          onConfirm={remove}
        >
          <p>The plan and the result of the experiment are deleted. Counts stay.</p>
        </ConfirmButton>
      </p>
    </section>
  );
}

const signed = new Intl.NumberFormat(undefined, { maximumFractionDigits: 2, signDisplay: 'exceptZero' });
const plain = new Intl.NumberFormat(undefined, { maximumSignificantDigits: 3 });
const shares = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 });

/** True if a metric is a share of checks. */
function isShare(metric: string): boolean {
  return metric === 'used' || metric === 'viewed';
}

function valueText(metric: string, value: number | null): string {
  if (value === null) return '–';
  return isShare(metric) ? shares.format(value) : plain.format(value);
}

/** Formats a difference of a metric. Shares are in percentage points. */
function differenceText(metric: string, difference: number): string {
  return isShare(metric) ? `${format.points(difference)} pp` : signed.format(difference);
}

interface IntervalsProps {
  readonly metric: string;
  readonly base: string;
  readonly variants: readonly MeasuredVariant[];
}

/** Draws the confidence interval of each variant's difference from the base. All intervals share one scale. */
function Intervals({ metric, base, variants }: IntervalsProps) {
  const ends = variants.flatMap(({ difference }) => difference?.interval ?? []);
  const reach = Math.max(0, ...ends.map(Math.abs)) * 1.1;
  return (
    <div class="table">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it must be scrollable by keyboard on a phone */}
      <section class="table-scroll" aria-label={`Variants by ${metric}`} tabIndex={0}>
        <table>
          <caption class="hidden">
            Variants by {metric}, compared with {base}
          </caption>
          <thead>
            <tr>
              <th scope="col">Variant</th>
              <th scope="col" class="number">
                Users
              </th>
              <th scope="col" class="number">
                {metric} per check
              </th>
              <th scope="col" class="number">
                vs {base}
              </th>
              <th scope="col">95 % interval</th>
            </tr>
          </thead>
          <tbody>
            {variants.map((each) => (
              <tr key={each.variant}>
                <th scope="row">{each.variant}</th>
                <td class="number">{format.people(each.users)}</td>
                <td class="number">{valueText(metric, each.value)}</td>
                <Difference metric={metric} base={base} reach={reach} variant={each} />
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </div>
  );
}

interface DifferenceProps {
  readonly metric: string;
  readonly base: string;
  readonly reach: number;
  readonly variant: MeasuredVariant;
}

function Difference({ metric, base, reach, variant: { variant, difference } }: DifferenceProps) {
  if (difference === null)
    return (
      <td colSpan={2} class="quiet">
        {variant === base ? 'base' : 'too little data'}
      </td>
    );
  const [low, high] = difference.interval;
  const at = (value: number) => `${50 + (50 * value) / (reach || 1)}%`;
  return (
    <>
      <td class="number">{differenceText(metric, difference.estimate)}</td>
      <td>
        <span class="experiment-scale" aria-hidden="true">
          <span class="experiment-zero" />
          <span
            class="experiment-interval"
            style={{ left: at(low), width: `${(50 * (high - low)) / (reach || 1)}%` }}
          />
          <span class="experiment-estimate" style={{ left: at(difference.estimate) }} />
        </span>
        <span class="quiet">
          {differenceText(metric, low)} to {differenceText(metric, high)}
        </span>
      </td>
    </>
  );
}
