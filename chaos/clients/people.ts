import type { Dice } from '../dice.ts';
import { pause } from '../pause.ts';
import type { Round } from '../round.ts';
import { all, telemetry } from './telemetry.ts';
import { Sender } from './totals.ts';

/** Mints ids, and immediately sends packets with them to other nodes. */
export async function mintAndUse(round: Round, dice: Dice, name: string): Promise<void> {
  for (let number = 0; !round.isOver; number++) {
    const identity = `${round.shop.environment}-${name}-${number}`;
    const i = await mint(round, round.somewhere(dice, 'metrics'), identity);
    if (i !== undefined) await beSeen(round, dice, identity, i);
    await pause(dice.between(50, 250));
  }
}

async function mint(round: Round, http: string, identity: string): Promise<string | undefined> {
  const response = await round.ask(http, {
    kind: 'mint',
    method: 'POST',
    path: '/api/frontend/identities',
    headers: { authorization: round.shop.keys.Backend },
    body: { identity },
  });
  return response.status === 200 ? (JSON.parse(response.body) as { instanceId: string }).instanceId : undefined;
}

/** Sends two concurrent packets of one person to different nodes. */
async function beSeen(round: Round, dice: Dice, identity: string, i: string): Promise<void> {
  const sender = new Sender('feature', 'people');
  round.people.push({ identity, sender });
  const send = async () => {
    const { count, settle } = sender.next();
    const f = { people: { on: [count, 1] }, ...all };
    settle((await telemetry(round, round.node(dice).metrics, { i, f, m: { packets: 1 } })).outcome);
  };
  await Promise.all([send(), send()]);
}
