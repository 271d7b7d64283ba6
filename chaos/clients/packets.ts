import type { Dice } from '../dice.ts';
import { pause } from '../pause.ts';
import type { Round } from '../round.ts';
import { all, telemetry } from './telemetry.ts';

/** A browser: each packet is sent once, whatever comes of it. */
export async function sendPackets(round: Round, dice: Dice, name: string): Promise<void> {
  const sender = round.sender('feature', name);
  while (!round.isOver) {
    const { name: feature, variant, count, settle } = sender.next();
    const f = { [feature]: { [variant]: [count, 1] }, ...all };
    const { outcome } = await telemetry(round, round.somewhere(dice), { f, m: { packets: 1 } });
    settle(outcome);
    await pause(dice.between(5, 60));
  }
}
