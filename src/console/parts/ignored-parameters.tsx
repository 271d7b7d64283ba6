import { useMemo } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { useQuery } from '../address.ts';
import { now } from '../clock.ts';
import { ignoredIn } from '../parameters.ts';

/** Time in which a page reads its parameters, ms: some belong to what is shown after the first answer. */
const settledAfterMs = 3000;

/** The parameters of the address that have no effect, why, and a button that removes each. */
export function IgnoredParameters() {
  const { query } = useLocation();
  const { change } = useQuery();
  const since = useMemo(() => now.peek(), [query]);
  const names = Object.keys(query);
  const ignored = names.length === 0 ? [] : ignoredIn(query, now.value - since > settledAfterMs);
  if (ignored.length === 0) return null;
  return (
    <div class="callout callout-warn ignored" role="status">
      {ignored.map(({ name, value, reason }) => (
        <p key={name} class="head">
          <span>
            <code>
              {name}={value}
            </code>{' '}
            in the address is ignored: {reason}.
          </span>
          <button type="button" onClick={() => change({ [name]: undefined })}>
            Remove {name}
          </button>
        </p>
      ))}
    </div>
  );
}
