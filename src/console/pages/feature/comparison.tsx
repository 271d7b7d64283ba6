import { checksOnlyText } from '../../../contract/message-routes.ts';
import type { Comparison as ComparedFeature, ComparedVariant } from '../../../contract/shapes/comparison.ts';
import { useQuery } from '../../address/address.ts';
import { allowOnly, useParameters } from '../../address/parameters.ts';
import { boundsQuery } from '../../address/range.ts';
import { withQuery } from '../../api/client.ts';
import { usePoll } from '../../api/poll.ts';
import { useRange } from '../../components/choices/range.tsx';
import { Reason } from '../../components/failure.tsx';
import { OptionList } from '../../components/form/filters.tsx';
import { peopleColumn, UserDays } from '../../components/table/columns.tsx';
import { type Column, Table } from '../../components/table/table.tsx';
import { format } from '../../text/format.ts';
import { type FeaturePlace, featurePath } from './change.tsx';
import { Choice } from './choice.tsx';
import { useChecksOnly } from './senders.tsx';

const events = ['used', 'viewed'] as const;
const parameters = { event: allowOnly(events) };
const names = { used: 'Used', viewed: 'Viewed' };

/** Pause between two requests. Complete days change only if a late report arrives. */
const everyMs = 60_000;

/** Compares the variants of a flag without a planned experiment, over the selected range. */
export function Comparison({ place }: { readonly place: FeaturePlace }) {
  const { query, change } = useQuery();
  const { bounds, live } = useRange();
  useParameters(parameters);
  const event = events.find((each) => each === query['event']) ?? 'used';
  const { from, to, timeZone } = boundsQuery(bounds);
  const path = withQuery(featurePath(place, 'comparison')!, {
    environment: place.environment,
    event,
    from,
    to,
    timeZone,
    base: query['base'],
  });
  const { data, error } = usePoll<ComparedFeature>(path, live ? everyMs : undefined);
  const sources = useChecksOnly(place);
  return (
    <div class="flag-comparison">
      <div class="head flag-bar">
        <Choice
          label="Event"
          values={events}
          names={names}
          value={event}
          onChange={(each) => change({ event: each })}
        />
        {data !== undefined && data.base !== null && data.variants.length > 1 && (
          <label class="flag-base">
            Base{' '}
            <select value={data.base} onChange={({ currentTarget }) => change({ base: currentTarget.value })}>
              <OptionList options={listBases(data).map((variant) => [variant])} />
            </select>
          </label>
        )}
      </div>
      <Reason error={error} what="The comparison" />
      {data === undefined && error === undefined && <p class="quiet">Comparing …</p>}
      {data !== undefined && sources.length > 0 && data.variants.every(({ rate }) => !rate) ? (
        <p class="callout">{checksOnlyText(sources)}</p>
      ) : (
        data !== undefined && <Compared name={place.name} comparison={data} />
      )}
    </div>
  );
}

/** Lists the variants that can be chosen as the base, by name. The base itself can be missing from the range. */
function listBases({ base, variants }: ComparedFeature): readonly string[] {
  return [...new Set([base ?? [], ...variants.map(({ variant }) => variant)].flat())].toSorted();
}

function Compared({ name, comparison }: { readonly name: string; readonly comparison: ComparedFeature }) {
  const { why, outcome, variants, from, to, days, base } = comparison;
  return (
    <>
      <p class={`callout callout-${outcome}`}>{why}</p>
      <Warnings comparison={comparison} />
      {variants.length > 1 && (
        <Table
          caption={`Rates by variant, compared with ${base}`}
          columns={createColumns(comparison)}
          rows={variants}
          rowKey={({ variant }) => variant}
          csv={`${name}-comparison`}
        />
      )}
      {variants.length > 1 && from !== null && to !== null && (
        <p class="quiet">
          All figures cover the {days} whole UTC days on which the compared variants were served,{' '}
          <UserDays from={from} to={to} />. Variants are compared within each day, and returning users do not count as
          independent. All intervals together hold with a probability of 95 %.
        </p>
      )}
    </>
  );
}

function createColumns({ base, event }: ComparedFeature): readonly Column<ComparedVariant>[] {
  return [
    { key: 'variant', title: 'Variant', value: ({ variant }) => variant },
    peopleColumn('users', 'People'),
    {
      key: 'rate',
      title: `${names[event]} per check`,
      number: true,
      value: ({ rate }) => rate,
      cell: ({ rate, interval }) => (rate === null ? '–' : <Figure value={rate} interval={interval} />),
    },
    {
      key: 'difference',
      title: `vs ${base}`,
      number: true,
      value: ({ difference }) => difference?.estimate ?? null,
      cell: ({ variant, difference }) => {
        if (variant === base) return <span class="quiet">base</span>;
        if (difference === null) return <span class="quiet">too little data</span>;
        return <Figure value={difference.estimate} interval={difference.interval} signed />;
      },
    },
    {
      key: 'p',
      title: 'p, corrected',
      number: true,
      value: ({ difference }) => difference?.pAdjusted ?? null,
      cell: ({ difference }) => (difference === null ? '' : chance(difference.pAdjusted)),
    },
  ];
}

interface FigureProps {
  readonly value: number;
  readonly interval: readonly [number, number] | null;
  readonly signed?: boolean;
}

const share = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 });

/** Shows a figure with its confidence interval. Differences of shares are in percentage points. */
function Figure({ value, interval, signed }: FigureProps) {
  const text = (each: number) => (signed ? format.points(each) : share.format(each));
  return (
    <span class="flag-figure">
      {text(value)}
      {signed ? ' pp' : ''}{' '}
      {interval && (
        <span class="quiet">
          {text(interval[0])} to {text(interval[1])}
        </span>
      )}
    </span>
  );
}

function chance(p: number): string {
  return p < 0.001 ? '< 0.001' : p.toFixed(3);
}

function Warnings({ comparison }: { readonly comparison: ComparedFeature }) {
  const { sampleRatio, severalVariants } = comparison;
  return (
    <>
      {sampleRatio?.mismatch && (
        <p class="callout callout-warn" role="note">
          The split differs from the declared one: {listed(sampleRatio.observed)} of the users instead of{' '}
          {listed(sampleRatio.expected)} (p {chance(sampleRatio.p)}). Find the reason before you trust the comparison.
          For example, a variant might not be reported by all senders, or might lose people who are redirected.
        </p>
      )}
      {sampleRatio && !sampleRatio.mismatch && (
        <p class="quiet">People are split as declared: {listed(sampleRatio.observed)}.</p>
      )}
      {severalVariants?.warn && (
        <p class="callout callout-warn" role="note">
          ≈{share.format(severalVariants.share)} of the users saw several variants. They count on both sides, which
          makes the variants look more alike than they are.
        </p>
      )}
    </>
  );
}

function listed(shares: Readonly<Record<string, number>>): string {
  return format.list(Object.entries(shares).map(([variant, part]) => `${variant} ${share.format(part)}`));
}
