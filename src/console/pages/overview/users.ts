import { type ReadonlySignal, signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { OverviewUsersShown } from '../../../contract/shapes/overview.ts';
import { call, resource } from '../../api/client.ts';
import type { ChosenRange } from '../../parts/range.tsx';
import { type Bounds, boundsQuery } from '../../range.ts';

/** The API counts the users of so many flags at once. */
const atOnce = 60;
/** Counting costs more than a look at the figures: it is done again after this time only. */
const againMs = 30_000;
/** While rows fly by nothing is counted. */
const restMs = 120;

interface Counted {
  readonly users: number;
  /** The beginning of the range that they were counted in. */
  readonly from: number;
}

/** Users by flag, counted when they are asked for. A flag that was not counted yet is not in it. */
export interface FlagUsers {
  readonly known: ReadonlySignal<ReadonlyMap<string, Counted>>;
  /** Counts the users of flags, unless that was done already; resolves when all are known. */
  count(flags: readonly string[], bounds: Bounds, again?: boolean): Promise<void>;
}

/** The users of an environment's flags in a range; another range begins anew. */
export function useFlagUsers(app: string, environment: string, { range }: ChosenRange): FlagUsers {
  return useMemo(() => flagUsers(app, environment), [app, environment, range]);
}

function flagUsers(app: string, environment: string): FlagUsers {
  const known = signal<ReadonlyMap<string, Counted>>(new Map());
  const path = resource('applications', app, 'overview', 'users');
  return {
    known,
    async count(flags, bounds, again = false) {
      const { from, to } = boundsQuery(bounds);
      const missing = flags.filter((flag) => again || known.peek().get(flag)?.from !== bounds.from);
      for (let at = 0; at < missing.length; at += atOnce) {
        const query = { environment, from, to, feature: missing.slice(at, at + atOnce) };
        const { features } = await call<OverviewUsersShown>('GET', path, { query });
        const counted = features.map(
          ({ feature, users }) => [feature, { users, from: bounds.from }] as const,
        );
        known.value = new Map([...known.peek(), ...counted]);
      }
    },
  };
}

/** Counts the users of the rows in view, and again from time to time. What fails is tried again with the next. */
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
