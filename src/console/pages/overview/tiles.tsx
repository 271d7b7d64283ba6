import type { Overview } from '../../../contract/shapes/overview.ts';
import { format } from '../../format.ts';
import { type Range, rangeLabel } from '../../range.ts';
import { changeOf, compared, type Figure, figures, names } from './figures.ts';

interface TilesProps {
  readonly overview: Overview;
  readonly range: Range;
  readonly shown: Figure;
  readonly onShow: (figure: Figure) => void;
}

/** The totals of the range. Each selects the figure of the chart. */
export function Tiles({ overview, range, shown, onShow }: TilesProps) {
  return (
    <fieldset class="overview-tiles">
      <legend class="hidden">What the chart shows</legend>
      {figures.map((figure) => (
        <button
          key={figure}
          type="button"
          class="overview-tile"
          aria-pressed={figure === shown}
          onClick={() => onShow(figure)}
        >
          <span class="quiet">
            {names[figure]}
            {figure === 'users' && ', whole UTC days'}
          </span>
          <span class="overview-tile-line">
            <Value overview={overview} figure={figure} />
            {figure === 'users' && <UserDays overview={overview} />}
            <Changed overview={overview} figure={figure} range={range} />
          </span>
        </button>
      ))}
    </fieldset>
  );
}

interface FigureProps {
  readonly overview: Overview;
  readonly figure: Figure;
}

function Value({ overview, figure }: FigureProps) {
  const { value } = compared(overview, figure);
  return (
    <span class="overview-tile-value" title={format.full(value)}>
      {figure === 'users' && value > 0 ? '≈' : ''}
      {format.compact(value)}
    </span>
  );
}

/** Users are counted by day: a sum over hours would count many twice. */
function UserDays({ overview }: { readonly overview: Overview }) {
  const { from, to } = overview.users;
  return <span class="overview-tile-note">{format.days(from, to)}</span>;
}

interface ChangedProps extends FigureProps {
  readonly range: Range;
}

/** The change from the same time span before. */
function Changed({ overview, figure, range }: ChangedProps) {
  const { against, before } = compared(overview, figure);
  const change = against === undefined ? undefined : changeOf(against, before);
  if (change === undefined) return null;
  const { direction, size } = change;
  const [sign, word] = { up: ['▲', 'up'], down: ['▼', 'down'], same: ['=', 'no change:'] }[direction];
  return (
    <span class="overview-tile-note" title={spansText(overview, figure)}>
      <span aria-hidden="true">{sign} </span>
      <span class="hidden">{word} </span>
      <strong>{size}</strong> <Against overview={overview} figure={figure} range={range} />
    </span>
  );
}

/** The comparison of users covers complete days, which it names. */
function Against({ overview, figure, range }: ChangedProps) {
  const { usersBefore } = overview;
  if (figure !== 'users' || usersBefore === null)
    return <>against {'preset' in range ? `the ${rangeLabel(range)} before` : 'the same time span before'}</>;
  return (
    <>
      <span aria-hidden="true">from {format.days(usersBefore.from, usersBefore.to)}</span>
      <span class="hidden">{spansText(overview, figure)}</span>
    </>
  );
}

/** The compared time spans. */
function spansText({ before, usersBefore }: Overview, figure: Figure): string {
  if (figure === 'users' && usersBefore !== null) {
    const { against } = usersBefore;
    return `${format.days(against.from, against.to)} against ${format.days(usersBefore.from, usersBefore.to)} (UTC)`;
  }
  if (before === null) return '';
  const { against } = before;
  return `${format.span(against.from, against.to)} against ${format.span(before.from, before.to)}, the same time span`;
}
