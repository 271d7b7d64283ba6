import type { Dice } from '../dice.ts';
import { pause } from '../pause.ts';
import type { Round } from '../round.ts';

/** Declares and deletes features. Checks each change immediately on another node. */
export async function changeFeatures(round: Round, dice: Dice, name: string): Promise<void> {
  for (let number = 0; !round.isOver; number++) {
    const feature = `${round.shop.environment}-${name}-${number}`;
    const isDeclared = await declare(round, dice, feature);
    if (isDeclared && dice.chance(0.4)) await remove(round, dice, feature);
    await pause(dice.between(30, 200));
  }
}

async function declare(round: Round, dice: Dice, feature: string): Promise<boolean> {
  const path = `/api/v2/applications/${round.shop.application}/features`;
  const question = { kind: 'declare', method: 'POST', path, body: { name: feature } } as const;
  const response = await round.tokens.ask(round.somewhere(dice), question);
  note(round, 'feature.declared', feature, response.outcome, response.status);
  if (response.status === 409) madeTwice(round, `${feature} is declared`);
  if (response.status === 201) await look(round, dice, feature, 200);
  return response.status === 201;
}

async function remove(round: Round, dice: Dice, feature: string): Promise<void> {
  const path = `/api/v2/applications/${round.shop.application}/features/${feature}`;
  const response = await round.tokens.ask(round.somewhere(dice), { kind: 'delete', method: 'DELETE', path });
  note(round, 'feature.deleted', feature, response.outcome, response.status);
  if (response.status === 404) madeTwice(round, `${feature} is deleted`);
  if (response.status === 204) await look(round, dice, feature, 404);
}

/**
 * Records the outcome of a change. A node that could not query PostgreSQL can still have made the change, so its
 * response is not a refusal.
 */
function note(
  round: Round,
  action: Round['changes'][number]['action'],
  name: string,
  outcome: Round['changes'][number]['outcome'],
  status: number | undefined,
): void {
  const isSure = outcome === 'accepted' ? !round.isLossy : outcome === 'refused' && status !== 503;
  round.changes.push({ action, name, outcome: isSure ? outcome : 'unknown' });
}

/**
 * Reports a violation if a node responds that a change was already made. No other client makes this change. Therefore
 * the node has made the change itself, and does not recognise this.
 */
export function madeTwice(round: Round, what: string): void {
  if (!round.isLossy) round.journal.violation(`a change was made twice: ${what} already`);
}

async function look(round: Round, dice: Dice, feature: string, expected: number): Promise<void> {
  const node = round.node(dice);
  const path = `/api/v2/applications/${round.shop.application}/features/${feature}`;
  const { status } = await round.tokens.ask(node.http, { kind: 'look', path, timeoutMs: 4_000 });
  const isWrong = (status === 200 || status === 404) && status !== expected;
  if (isWrong && !round.isLossy)
    round.journal.violation(
      `${node.name} responded with ${status} and not ${expected} for ${feature} after its change`,
    );
}
