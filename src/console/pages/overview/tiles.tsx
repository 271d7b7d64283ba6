import { checksOnlyText } from '../../../contract/checks-only.ts';
import type { Overview } from '../../../contract/shapes/overview.ts';
import { format } from '../../text/format.ts';
import {
  areUsersCounted,
  changeOf,
  compared,
  type Figure,
  figures,
  isUnknown,
  names,
  usersLabel,
} from './figures.ts';

interface TilesProps {
  readonly overview: Overview;
  /** What the figures are compared with, in words. */
  readonly against: string;
  readonly shown: Figure;
  readonly onShow: (figure: Figure) => void;
}

/** The totals of the range. Each selects the figure of the chart. */
export function Tiles({ overview, against, shown, onShow }: TilesProps) {
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
          <span class="quiet">{figure === 'users' ? usersLabel(overview) : names[figure]}</span>
          <Total overview={overview} figure={figure} words={against} />
        </button>
      ))}
    </fieldset>
  );
}

interface FigureProps {
  readonly overview: Overview;
  readonly figure: Figure;
  readonly words: string;
}

/** The total of a figure, and its change from the same time span before. */
function Total({ overview, figure, words }: FigureProps) {
  const { value, against, before } = compared(overview, figure);
  if (isUnknown(overview, figure))
    return (
      <span class="overview-tile-line">
        <span class="overview-tile-note">{checksOnlyText(overview.checksOnly)}</span>
      </span>
    );
  if (figure === 'users' && !areUsersCounted(overview))
    return (
      <span class="overview-tile-line">
        <span class="overview-tile-note">counted from {format.clock(overview.users.from)} on</span>
      </span>
    );
  const change = against === undefined ? undefined : changeOf(against, before);
  const { from, to } = overview.users;
  return (
    <span class="overview-tile-line">
      <span class="overview-tile-value" title={format.full(value)}>
        {figure === 'users' && value > 0 ? '≈' : ''}
        {format.compact(value)}
      </span>
      {/* Users are counted by day: a sum over hours would count many twice. */}
      {figure === 'users' && <span class="overview-tile-note">{format.days(from, to)}</span>}
      {change !== undefined && (
        <span class="overview-tile-note" title={spansText(overview, figure)}>
          <span aria-hidden="true">{arrows[change.direction][0]} </span>
          <span class="hidden">{arrows[change.direction][1]} </span>
          <strong>{change.size}</strong> <Against overview={overview} figure={figure} words={words} />
        </span>
      )}
    </span>
  );
}

const arrows = { up: ['▲', 'up'], down: ['▼', 'down'], same: ['=', 'no change:'] } as const;

/** The comparison of users covers complete days, which it names. */
function Against({ overview, figure, words }: FigureProps) {
  const { usersBefore } = overview;
  if (figure !== 'users' || usersBefore === null) return <>{words}</>;
  return (
    <>
      <span aria-hidden="true">vs {format.days(usersBefore.from, usersBefore.to)}</span>
      <span class="hidden">{spansText(overview, figure)}</span>
    </>
  );
}

/** The compared time spans. */
function spansText({ before, usersBefore }: Overview, figure: Figure): string {
  if (figure === 'users' && usersBefore !== null) {
    const { against } = usersBefore;
    return `${format.days(against.from, against.to)} vs ${format.days(usersBefore.from, usersBefore.to)} (UTC)`;
  }
  if (before === null) return '';
  const { against } = before;
  return `${format.span(against.from, against.to)} vs ${format.span(before.from, before.to)}`;
}
