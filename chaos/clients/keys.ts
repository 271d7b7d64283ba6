import type { Dice } from '../dice.ts';
import { pause } from '../pause.ts';
import type { Round } from '../round.ts';
import type { ServiceNode } from '../scene/service-node.ts';
import { madeTwice } from './changes.ts';
import { all, telemetry } from './telemetry.ts';
import type { Sender } from './totals.ts';

/**
 * Creates a key, uses it, and revokes it. After a request with a token, a node knows the latest accounts. From then on,
 * it must accept packets with the new key, or refuse packets with the revoked key.
 */
export async function useKeys(round: Round, dice: Dice, name: string): Promise<void> {
  const sender = round.sender('feature', name);
  const path = `/api/v2/applications/${round.shop.application}/keys`;
  while (!round.isOver) {
    const body = { type: 'Frontend' };
    const made = await round.tokens.ask(round.somewhere(dice), { kind: 'make key', method: 'POST', path, body });
    if (made.status === 201) await useKey(round, dice, sender, path, JSON.parse(made.body));
    await pause(dice.between(100, 400));
  }
}

interface Key {
  readonly id: string;
  readonly key: string;
}

async function useKey(round: Round, dice: Dice, sender: Sender, path: string, { id, key }: Key): Promise<void> {
  const node = round.node(dice);
  if (await follows(round, node, path)) await send(round, node, sender, key, true);
  const revoke = { kind: 'revoke key', method: 'DELETE', path: `${path}/${id}` } as const;
  const { status } = await round.tokens.ask(round.somewhere(dice), revoke);
  if (status === 404) madeTwice(round, `key ${id} is revoked`);
  const other = round.node(dice);
  if (status === 204 && (await follows(round, other, path))) await send(round, other, sender, key, false);
}

async function follows(round: Round, node: ServiceNode, path: string): Promise<boolean> {
  const { status } = await round.tokens.ask(node.http, { kind: 'look', path: `${path}?limit=1` });
  return status === 200;
}

async function send(round: Round, node: ServiceNode, sender: Sender, k: string, isValid: boolean): Promise<void> {
  const { name, variant, count, settle } = sender.next();
  const f = { [name]: { [variant]: [count, 1] }, ...all };
  const { outcome, status } = await telemetry(round, node.metrics, { k, f, m: { packets: 1 } }, {}, 'packet of a key');
  settle(outcome);
  const isWrong = status === (isValid ? 404 : 202);
  if (isWrong && !round.isLossy)
    round.journal.violation(
      `${node.name} responded with ${status} to a key that had been ${isValid ? 'created' : 'revoked'}`,
    );
}
