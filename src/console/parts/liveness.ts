/** How current the figures are that move. */
export interface Liveness {
  readonly kind: 'live' | 'behind' | 'offline';
  /** The figures are those of this time, Unix ms. */
  readonly since: number;
}

/** Figures that are older than this are behind, ms. */
const behindMs = 10_000;

/** @returns `undefined` when the page has no figures that move */
export function livenessOf(seen: {
  readonly polled: { readonly since: number; readonly error: unknown } | undefined;
  /** Whether the last request reached the server. */
  readonly reachable: boolean;
  /** Unix ms. */
  readonly now: number;
}): Liveness | undefined {
  if (seen.polled === undefined) return undefined;
  const { since, error } = seen.polled;
  if (!seen.reachable) return { kind: 'offline', since };
  return { kind: error !== undefined || seen.now - since > behindMs ? 'behind' : 'live', since };
}
