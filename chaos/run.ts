import { closeGrpc } from './clients/grpc-report.ts';
import { redirectUri } from './clients/refreshes.ts';
import { Tokens } from './clients/tokens.ts';
import { Dice } from './dice.ts';
import { drawFaults } from './faults/draw.ts';
import type { Journal } from './journal.ts';
import type { Options } from './options.ts';
import { type InvalidatedToken, Round } from './round.ts';
import { runRound } from './run-round.ts';
import { balanced } from './scene/balancer.ts';
import { Scene } from './scene/scene.ts';
import { Shops } from './shops.ts';

/** Opens the scene, and runs rounds until the time is over. @returns the number of rounds */
export async function run(options: Options, journal: Journal): Promise<number> {
  journal.note(`seed ${options.seed}, logs and data are in ${options.folder}`);
  const scene = await Scene.open({ ...options, journal });
  try {
    return await runRounds(scene, options, journal);
  } finally {
    closeGrpc();
    await scene.close();
  }
}

async function runRounds(scene: Scene, options: Options, journal: Journal): Promise<number> {
  const tokens = new Tokens(journal, scene.credentials);
  const shops = new Shops(scene, tokens);
  const end = performance.now() + options.minutes * 60_000;
  const clientId = await registerClient(tokens);
  const knownResponses = new Set<string>();
  const invalidated: InvalidatedToken[] = [];
  for (let number = 1; ; number++) {
    journal.beginRound(number);
    // Each round has its own seed, so that it can be repeated alone.
    const dice = new Dice(options.seed * 1_000 + number);
    const drawn = drawFaults(scene, dice, options.only);
    journal.note(`faults: ${drawn.map(({ name, node }) => `${name} (${node.name})`).join(', ')}`);
    const round = new Round({ scene, journal, tokens, invalidated }, await shops.next());
    await runRound(round, dice, { drawn, clientId, answersKnown: knownResponses });
    const { accepted, refused, unknown } = round.taken;
    journal.note(
      `${accepted} accepted, ${refused} refused, ${unknown} unknown; ${journal.violations.length} violations`,
    );
    const isOver = performance.now() > end || number >= options.rounds;
    if (isOver || (options.stops && journal.violations.length > 0)) return number;
  }
}

/** Registers a public client of the first team. The simulated users sign in with it. */
async function registerClient(tokens: Tokens): Promise<string> {
  const path = `/api/v2/teams/${tokens.credentials.teamId}/clients`;
  const body = { name: 'Shop', type: 'public', redirectUris: [redirectUri] };
  const question = { kind: 'make', method: 'POST', path, body } as const;
  return ((await tokens.insist(balanced.http, question, 201)) as { clientId: string }).clientId;
}
