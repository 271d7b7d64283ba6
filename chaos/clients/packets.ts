import type { Dice } from '../dice.ts';
import { pause } from '../pause.ts';
import type { Round } from '../round.ts';
import type { ServiceResponse } from './ask.ts';
import { all, telemetry } from './telemetry.ts';
import type { Sender } from './totals.ts';

/** Sends each packet once, whatever the outcome. */
export async function sendPackets(round: Round, dice: Dice, name: string): Promise<void> {
  const sender = round.sender('feature', name);
  while (!round.isOver) {
    await sendPacket(round, round.somewhere(dice, 'metrics'), sender);
    await pause(dice.between(5, 60));
  }
}

/**
 * Sends packets to one server until a response ends the loop.
 * @param how.isGivenUp see `Round.unwatched`
 * @param how.isKept false if reports may lack acknowledged packets, because the packets remain in the server's
 * directory
 */
export async function sendPacketsUntil(
  round: Round,
  http: string,
  isLast: (response: ServiceResponse) => boolean,
  { isGivenUp = false, isKept = true } = {},
): Promise<void> {
  const sender = round.sender('feature', `packets-${http}-${round.senders.length}`);
  if (isGivenUp) round.unwatched.add(sender);
  while (!isLast(await sendPacket(round, http, sender, isKept))) await pause(20);
}

async function sendPacket(round: Round, http: string, sender: Sender, isKept = true): Promise<ServiceResponse> {
  const { name, variant, count, settle } = sender.next();
  const f = { [name]: { [variant]: [count, 1] }, ...all };
  const response = await telemetry(round, http, { f, m: { packets: 1 } });
  settle(response.outcome === 'accepted' && !isKept ? 'unknown' : response.outcome);
  return response;
}
