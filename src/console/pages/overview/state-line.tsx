import type { OverviewShown } from '../../../contract/shapes/overview.ts';
import { applicationSettingsAddress } from '../../address.ts';
import { format, plural } from '../../format.ts';
import { countStates, pressing, type State, states } from './states.ts';

interface StateLineProps {
  readonly app: string;
  readonly overview: OverviewShown;
  readonly state: State | undefined;
  readonly onChoose: (state: State | undefined) => void;
}

/** What asks for a look: each part is a filter, and a leaked key leads to the keys. */
export function StateLine({ app, overview, state, onChoose }: StateLineProps) {
  const counts = countStates(overview.features);
  const found = pressing.filter((each) => counts.get(each)! > 0);
  const { leakedKeys } = overview.states;
  if (found.length === 0 && leakedKeys === 0)
    return overview.features.length === 0 ? null : (
      <p class="overview-states quiet">No flag asks for a look.</p>
    );
  return (
    <ul class="overview-states" aria-label="What asks for a look">
      {found.map((each) => (
        <li key={each}>
          <button
            type="button"
            class="overview-state"
            aria-pressed={each === state}
            onClick={() => onChoose(each === state ? undefined : each)}
          >
            {format.full(counts.get(each)!)} {states[each]}
          </button>
        </li>
      ))}
      {leakedKeys > 0 && (
        <li>
          <a class="overview-state overview-leak" href={`${applicationSettingsAddress(app)}#keys`}>
            {plural(leakedKeys, 'key')} leaked
          </a>
        </li>
      )}
    </ul>
  );
}
