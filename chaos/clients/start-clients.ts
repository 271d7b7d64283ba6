import type { Dice } from '../dice.ts';
import type { Round } from '../round.ts';
import { changeFeatures } from './changes.ts';
import { invalidateTokens, tryInvalidated } from './invalidations.ts';
import { useKeys } from './keys.ts';
import { sendMessages, sendMetrics, sendNamedPackets } from './messages.ts';
import { sendPackets } from './packets.ts';
import { mintAndUse } from './people.ts';
import { raceRefreshes } from './refreshes.ts';
import { watchReports } from './watch-reports.ts';

type Client = (round: Round, dice: Dice, name: string) => Promise<void>;

/** Number of clients of each kind. */
const crowd: readonly (readonly [name: string, count: number, client: Client])[] = [
  ['packets', 6, sendPackets],
  ['named', 2, sendNamedPackets],
  ['messages', 3, sendMessages],
  ['metrics', 2, sendMetrics],
  ['minting', 2, mintAndUse],
  ['changes', 2, changeFeatures],
  ['keys', 1, useKeys],
  ['invalidating', 1, invalidateTokens],
  ['trying', 2, tryInvalidated],
  ['watching', 1, watchReports],
];

/** Runs all clients until the round is over. Resolves after each client has ended. */
export async function startClients(round: Round, dice: Dice, clientId: string): Promise<void> {
  const running = crowd.flatMap(([name, count, client]) =>
    Array.from({ length: count }, (_, index) => client(round, dice.fork(), `${name}-${index}`)),
  );
  running.push(raceRefreshes(round, dice.fork(), clientId));
  await Promise.all(running);
}
