export interface Liveness {
  readonly kind: 'live' | 'behind' | 'offline' | 'paused';
  readonly since: number;
}

const behindMs = 10_000;

/** @returns `undefined` if the page has no live figures */
export function computeLiveness(seen: {
  readonly polled: { readonly since: number; readonly error: unknown } | undefined;
  readonly reachable: boolean;
  /** True if the session has ended. No figures are read then. */
  readonly ended: boolean;
  /** Unix ms. */
  readonly now: number;
}): Liveness | undefined {
  if (seen.polled === undefined) return undefined;
  const { since, error } = seen.polled;
  if (seen.ended) return { kind: 'paused', since };
  if (!seen.reachable) return { kind: 'offline', since };
  return { kind: error !== undefined || seen.now - since > behindMs ? 'behind' : 'live', since };
}
