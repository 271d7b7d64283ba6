/** An open connection, as the system knows it. */
export interface OpenConnection {
  readonly descriptor: number;
  /** Its client; `undefined` for a trusted proxy, which serves many clients. */
  readonly from: string | undefined;
  /** Whether any data was sent to it. */
  readonly answered: boolean;
  /** Time since the last data was sent to it, or since it was opened, ms. */
  readonly quietMs: number;
}

export interface Room {
  /** Maximum connections of one address. */
  readonly perAddress: number;
  /** Maximum connections of all addresses. */
  readonly total: number;
}

/**
 * Chooses the connections to close. An address keeps the `perAddress` most recently answered ones. Those with an incomplete
 * request were never answered, so they go first. If the rest still exceeds `total`, the addresses with the most connections
 * lose theirs first.
 */
export function surplusOf(open: readonly OpenConnection[], { perAddress, total }: Room): OpenConnection[] {
  const ranked = rank(open);
  const surplus = ranked.filter((each) => each.rank >= perAddress);
  const rest = ranked.filter((each) => each.rank < perAddress);
  rest.sort((a, b) => b.rank - a.rank || answeredFirst(b.connection, a.connection));
  return [...surplus, ...rest.slice(0, Math.max(0, rest.length - total))].map(({ connection }) => connection);
}

interface Ranked {
  readonly connection: OpenConnection;
  /** Number of its address's connections that were answered later; 0 for each of a trusted proxy. */
  readonly rank: number;
}

function rank(open: readonly OpenConnection[]): Ranked[] {
  const ranks = new Map<string, number>();
  return open.toSorted(answeredFirst).map((connection) => {
    const { from } = connection;
    if (from === undefined) return { connection, rank: 0 };
    const rank = ranks.get(from) ?? 0;
    ranks.set(from, rank + 1);
    return { connection, rank };
  });
}

function answeredFirst(a: OpenConnection, b: OpenConnection): number {
  return Number(b.answered) - Number(a.answered) || a.quietMs - b.quietMs;
}
