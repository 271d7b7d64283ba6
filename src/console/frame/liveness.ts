export interface Liveness {
  readonly kind: 'live' | 'behind' | 'offline';
  readonly since: number;
}

const behindMs = 10_000;

/** @returns `undefined` if the page has no live figures */
export function computeLiveness(seen: {
  readonly polled: { readonly since: number; readonly error: unknown } | undefined;
  readonly reachable: boolean;
  /** Unix ms. */
  readonly now: number;
}): Liveness | undefined {
  if (seen.polled === undefined) return undefined;
  const { since, error } = seen.polled;
  if (!seen.reachable) return { kind: 'offline', since };
  return { kind: error !== undefined || seen.now - since > behindMs ? 'behind' : 'live', since };
}
