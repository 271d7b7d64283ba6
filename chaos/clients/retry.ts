import type { Dice } from '../dice.ts';
import { pause } from '../pause.ts';
import type { Round } from '../round.ts';
import { balanced } from '../scene/balancer.ts';
import type { Outcome } from './ask.ts';

const mostTries = 5;

/**
 * Sends a message to different nodes or the balancer until a node acknowledges it. Sometimes sends it again after that,
 * like a sender that has not received the response.
 * @returns `accepted` if any node acknowledged the message
 */
export async function retryElsewhere(
  round: Round,
  dice: Dice,
  send: (node: typeof balanced) => Promise<Outcome>,
): Promise<Outcome> {
  let known: Outcome = 'refused';
  for (let tries = 0; tries < mostTries; tries++) {
    const outcome = await send(dice.chance(0.4) ? balanced : round.node(dice));
    if (known !== 'accepted' && outcome !== 'refused') known = outcome;
    if (known === 'accepted' && !dice.chance(0.3)) return known;
    await pause(dice.between(0, 100));
  }
  return known;
}
