import { type ReadonlySignal, signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { OverviewUsers } from '../../../contract/shapes/overview.ts';
import { type Bounds, boundsQuery } from '../../address/range.ts';
import { call, resource } from '../../api/client.ts';
import type { ChosenRange } from '../../parts/choices/range.tsx';

/** Maximum number of flags in a request. */
const atOnce = 60;
/** Pause between two counts: counting users is expensive. */
const againMs = 30_000;
/** Nothing is counted while the reader scrolls. */
const restMs = 120;

interface Counted {
  readonly users: number;
  /** Start of the counted range. */
  readonly from: number;
}

/** Users by flag, counted on demand. */
interface FlagUsers {
  /** Lacks flags that are not counted yet. */
  readonly known: ReadonlySignal<ReadonlyMap<string, Counted>>;
  /** Counts the users of flags that are not counted yet. @param again counts all of them */
  count(flags: readonly string[], bounds: Bounds, again?: boolean): Promise<void>;
}

/** The users of an environment's flags in a range. Another range starts over. */
export function useFlagUsers(app: string, environment: string, { range }: ChosenRange): FlagUsers {
  return useMemo(() => flagUsers(app, environment), [app, environment, range]);
}

function flagUsers(app: string, environment: string): FlagUsers {
  const known = signal<ReadonlyMap<string, Counted>>(new Map());
  const path = resource('applications', app, 'overview', 'users');
  return {
    known,
    async count(flags, bounds, again = false) {
      const { from, to, timeZone } = boundsQuery(bounds);
      const missing = flags.filter((flag) => again || known.peek().get(flag)?.from !== bounds.from);
      for (let at = 0; at < missing.length; at += atOnce) {
        const query = { environment, from, to, timeZone, feature: missing.slice(at, at + atOnce) };
        const { features } = await call<OverviewUsers>('GET', path, { query });
        const counted = features.map(
          ({ feature, users }) => [feature, { users, from: bounds.from }] as const,
        );
        known.value = new Map([...known.peek(), ...counted]);
      }
    },
  };
}

/** Counts the users of the visible rows periodically. A failed count is repeated with the next. */
export function useUsersInView(
  users: FlagUsers,
  { bounds, live }: ChosenRange,
  flags: readonly string[],
): void {
  useEffect(() => {
    if (flags.length === 0) return undefined;
    const count = (again: boolean) => void users.count(flags, bounds, again).catch(() => undefined);
    const rest = setTimeout(count, restMs, false);
    const repeat = setInterval(() => {
      if (live && !document.hidden) count(true);
    }, againMs);
    return () => {
      clearTimeout(rest);
      clearInterval(repeat);
    };
  }, [users, bounds, live, flags.join('\n')]);
}
