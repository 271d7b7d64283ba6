import type { ComparedVariantShown, ComparisonShown } from '../../../contract/shapes/comparison.ts';
import { useQuery } from '../../address.ts';
import { withQuery } from '../../api/client.ts';
import { usePoll } from '../../api/poll.ts';
import { messageOf } from '../../api/problem.ts';
import { format } from '../../format.ts';
import { useRange } from '../../parts/range.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Choice } from './choice.tsx';
import { type FlagPlace, flagPath } from './paths.ts';

const events = ['used', 'viewed'] as const;
const names = { used: 'Used', viewed: 'Viewed' };

/** Whole days change once a day, but a late report may still come. */
const everyMs = 60_000;

/** What a variant changes, and how much of that may be chance. */
export function ComparisonSection({ place }: { readonly place: FlagPlace }) {
  const { query, change } = useQuery();
  const { bounds, live } = useRange();
  const event = events.find((each) => each === query['event']) ?? 'used';
  const path = withQuery(flagPath(place, 'comparison')!, {
    environment: place.environment,
    event,
    from: new Date(bounds.from).toISOString(),
    to: new Date(bounds.to).toISOString(),
    base: query['base'],
  });
  const { data, error } = usePoll<ComparisonShown>(path, live ? everyMs : undefined);
  return (
    <section class="flag-comparison" aria-labelledby="flag-comparison">
      <div class="flag-bar">
        <h2 id="flag-comparison">Comparison</h2>
        <Choice
          label="Event"
          values={events}
          names={names}
          value={event}
          onChange={(each) => change({ event: each })}
        />
        {data !== undefined && data.variants.length > 2 && (
          <label class="flag-base">
            Against{' '}
            <select
              value={data.base ?? ''}
              onChange={({ currentTarget }) => change({ base: currentTarget.value })}
            >
              {data.variants.map(({ variant }) => (
                <option key={variant} value={variant}>
                  {variant}
                </option>
              ))}
            </select>
          </label>
        )}
      </div>
      {error !== undefined && <p class="form-error">The comparison cannot be read: {messageOf(error)}</p>}
      {data === undefined && error === undefined && <p class="quiet">Comparing …</p>}
      {data !== undefined && <Compared name={place.name} comparison={data} />}
    </section>
  );
}

function Compared({ name, comparison }: { readonly name: string; readonly comparison: ComparisonShown }) {
  const { why, outcome, variants, from, to, days, base } = comparison;
  return (
    <>
      <p class={`flag-outcome flag-outcome-${outcome}`}>{why}</p>
      <Warnings comparison={comparison} />
      {variants.length > 1 && (
        <Table
          caption={`Rates by variant, against ${base}`}
          columns={columnsOf(comparison)}
          rows={variants}
          rowKey={({ variant }) => variant}
          csv={`${name}-comparison`}
        />
      )}
      {variants.length > 1 && from !== null && to !== null && (
        <p class="quiet">
          {days} whole UTC days, {format.days(from, to)}. Days are compared with themselves, and people who
          come back are not counted as independent: chance is as large as the ranges say, 95 % for all of them
          together.
        </p>
      )}
    </>
  );
}

function columnsOf({ base, event }: ComparisonShown): readonly Column<ComparedVariantShown>[] {
  return [
    { key: 'variant', title: 'Variant', value: ({ variant }) => variant },
    {
      key: 'users',
      title: 'Users ≈',
      number: true,
      value: ({ users }) => users,
      cell: ({ users }) => format.full(users),
    },
    {
      key: 'rate',
      title: `${names[event]} per check`,
      number: true,
      value: ({ rate }) => rate,
      cell: ({ rate, interval }) => (rate === null ? '–' : <Figure value={rate} interval={interval} />),
    },
    {
      key: 'difference',
      title: `Against ${base}`,
      number: true,
      value: ({ difference }) => difference?.estimate ?? null,
      cell: ({ variant, difference }) => {
        if (variant === base) return <span class="quiet">base</span>;
        if (difference === null) return <span class="quiet">too little to say</span>;
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
const points = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1, signDisplay: 'exceptZero' });

/** A figure with the range that it may be in; differences of shares are in percentage points. */
function Figure({ value, interval, signed }: FigureProps) {
  const text = (each: number) => (signed ? points.format(each * 100) : share.format(each));
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

/** What makes the comparison doubtful. */
function Warnings({
  comparison: { sampleRatio, severalVariants },
}: {
  readonly comparison: ComparisonShown;
}) {
  return (
    <>
      {sampleRatio?.mismatch && (
        <p class="flag-warning" role="note">
          The split is not as declared: {listed(sampleRatio.observed)} of the users instead of{' '}
          {listed(sampleRatio.expected)} (p {chance(sampleRatio.p)}). Find out why before you trust the
          comparison: senders that are missing, or people who are redirected, may be different people.
        </p>
      )}
      {sampleRatio && !sampleRatio.mismatch && (
        <p class="quiet">Users are split as declared: {listed(sampleRatio.observed)}.</p>
      )}
      {severalVariants?.warn && (
        <p class="flag-warning" role="note">
          ≈{share.format(severalVariants.share)} of the users saw several variants, so the sides are partly
          the same people, and look more alike than they are.
        </p>
      )}
    </>
  );
}

function listed(shares: Readonly<Record<string, number>>): string {
  return format.list(Object.entries(shares).map(([variant, part]) => `${variant} ${share.format(part)}`));
}
