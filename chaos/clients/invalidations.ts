import type { Dice } from '../dice.ts';
import { pause } from '../pause.ts';
import type { Round } from '../round.ts';
import { madeTwice } from './changes.ts';

/** Invalidates tokens, and tries to use each of them immediately on every node. Sometimes tries older tokens, too. */
export async function invalidateTokens(round: Round, dice: Dice): Promise<void> {
  while (!round.isOver) {
    await invalidate(round, () => round.somewhere(dice));
    await pause(dice.between(50, 300));
  }
}

/** Gets a token and invalidates it, if possible. @param server returns the server for each request */
export async function invalidate(round: Round, server: () => string): Promise<void> {
  const token = await round.tokens.fresh(server());
  if (token === undefined) return;
  const response = await round.ask(server(), {
    kind: 'invalidate',
    method: 'POST',
    path: '/api/account/invalidate-token',
    headers: { authorization: `Bearer ${token}` },
  });
  if (response.status === 401) madeTwice(round, 'a fresh token is invalidated');
  if (response.status === 200 && !round.isLossy) round.invalidated.push({ token, how: 'invalidated' });
}

/** Repeatedly tries to use invalidated tokens on all nodes at the same time, the latest token first. */
export async function tryInvalidated(round: Round, dice: Dice): Promise<void> {
  while (!round.isOver) {
    const { length } = round.invalidated;
    const tried = round.invalidated[dice.chance(0.5) ? length - 1 : dice.between(0, Math.max(0, length - 1))];
    if (tried !== undefined) await mustBeRefused(round, tried);
    await pause(dice.between(5, 40));
  }
}

/** Sends a token to all nodes, each of which must refuse it. @returns the statuses by node */
export async function mustBeRefused(
  round: Round,
  { token, how }: Round['invalidated'][number],
): Promise<Record<string, number | undefined>> {
  const statuses = round.nodes.map(async (node) => {
    const { status } = await round.ask(node.http, {
      kind: 'with an invalidated token',
      path: '/api/v2/applications?limit=1',
      headers: { authorization: `Bearer ${token}` },
      timeoutMs: 3_000,
    });
    if (status !== undefined && status < 400 && !round.isLossy)
      round.journal.violation(`${node.name} responded with ${status} to a token that had been ${how}`);
    return [node.name, status] as const;
  });
  return Object.fromEntries(await Promise.all(statuses));
}
