import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import { type Binary, freshDirectory, prepare, startBinary } from '../support/binary.ts';
import { acceptIdentities, ExactLoad } from '../support/exact-load.ts';
import { frontThreads } from '../support/front-threads.ts';
import { needing } from '../support/needing.ts';
import { seededRandom } from '../support/random.ts';
import { type KillPoint, killedAt } from '../support/recorded-disk.ts';
import { openShop, type Shop } from '../support/shop.ts';

const { test } = needing('g++');

/** The environment variables `ROUNDS=500 SEED=7` set the number of rounds and their first seed. */
const rounds = Number(process.env['ROUNDS'] ?? 12);
const firstSeed = Number(process.env['SEED'] ?? 1);
const roundsOfDirectory = 6;

/**
 * Phases in which the process is killed, and the system calls of each phase. `at` is the highest call number to choose.
 */
const phases: Readonly<Record<string, readonly KillPoint[]>> = {
  commit: [
    { on: 'w', path: '.segment$', at: 60 },
    { on: 's', path: '.segment$', at: 60 },
    { on: 'e', path: '.segment$', at: 60 },
  ],
  'first segment': [
    { on: 'w', path: 'first.tmp$', at: 2 },
    { on: 'e', path: 'first.tmp$', at: 2 },
    { on: 'r', path: 'first.tmp$', at: 1 },
  ],
  rotation: [
    { on: 'w', path: 'spare-', at: 1 },
    { on: 'e', path: 'spare-', at: 1 },
    { on: 'r', path: '.segment$', at: 3 },
    { on: 's', path: 'journal/1$', at: 4 },
    { on: 'e', path: 'journal/1$', at: 4 },
  ],
  'spare preparation': [
    { on: 'w', path: 'prepare.tmp$', at: 16 },
    { on: 'e', path: 'prepare.tmp$', at: 16 },
    { on: 'r', path: 'prepare.tmp$', at: 1 },
  ],
  fold: [
    { on: 'w', path: 'usage/data.mdb$', at: 40 },
    { on: 's', path: 'usage/data.mdb$', at: 8 },
    { on: 'd', path: 'usage/data.mdb$', at: 8 },
  ],
  recycling: [{ on: 'u', path: '.segment$', at: 1 }],
  replay: [
    { on: 'w', path: 'usage/data.mdb$', at: 20 },
    { on: 's', path: 'usage/data.mdb$', at: 3 },
    { on: 'd', path: 'usage/data.mdb$', at: 3 },
    { on: 'u', path: '.segment$', at: 1 },
    { on: 'r', path: '.segment$', at: 1 },
  ],
  stop: [
    { on: 'w', path: 'usage/data.mdb$', at: 20 },
    { on: 's', path: 'usage/data.mdb$', at: 4 },
    { on: 'd', path: 'usage/data.mdb$', at: 4 },
    { on: 'u', path: '.segment$', at: 1 },
    { on: 'r', path: '.segment$', at: 1 },
  ],
};

const threads = [3, 0, 1];

/** A data directory, and the packets that were sent to its server. */
interface Scene {
  readonly args: readonly string[];
  readonly data: string;
  readonly shop: Shop;
  readonly load: ExactLoad;
}

async function openScene(at: number): Promise<Scene> {
  const args = frontThreads(threads[at % threads.length]!);
  const data = join(freshDirectory(), 'data');
  const credentials = await prepare(data);
  const service = await startBinary({ data, args });
  const shop = await openShop(service.http, credentials);
  await acceptIdentities(service.http, shop);
  service.kill('SIGKILL');
  await service.exit;
  return { args, data, shop, load: new ExactLoad() };
}

/** Chooses the actions of a round at random, from its seed. */
function draw(seed: number) {
  const random = seededRandom(seed);
  const below = (count: number) => Math.floor(random() * count);
  const phase = Object.keys(phases)[seed % Object.keys(phases).length]!;
  const points = phases[phase]!;
  const point = points[below(points.length)]!;
  return {
    phase,
    point: { ...point, at: 1 + below(point.at) },
    /** True to remove spare segments. The server then starts with a short segment, and soon needs the next one. */
    removesSpares: random() < 0.8 || phase === 'recycling',
    reports: random() < 0.5 || phase === 'fold' || phase === 'recycling', // A report folds the journal.
    /** Number of responses after which the server is killed even if it has not reached the system call. */
    responses: (phase === 'recycling' ? 300 : 100) + below(100), // The segment must become full first.
  };
}

type Round = ReturnType<typeof draw>;

async function verify(service: Binary, { shop, load }: Scene, seed: number): Promise<void> {
  const counted = await load.read(service.http, shop);
  expect(load.faults(counted), `seed ${seed}`).toEqual([]);
  load.settle(counted);
}

/**
 * Sends packets and requests reports until the process has ended.
 * @returns true if the process was killed at the chosen system call
 */
async function loadUntilGone(service: Binary, { shop, load }: Scene, round: Round, seed: number, arm: () => void) {
  let isOver = false;
  let isLate = false;
  let responses = 0;
  const goOn = (status: number | undefined) => {
    responses += 1;
    if (responses === round.responses) {
      isLate = true;
      if (round.phase === 'stop') arm();
      service.kill(round.phase === 'stop' ? 'SIGTERM' : 'SIGKILL');
    }
    return status === 202;
  };
  const senders = Array.from({ length: 6 }, (_, at) =>
    load.send(service, shop, `${seed}-${at}`, at < 3 ? undefined : `user-${seed}`, goOn),
  );
  const reporting = async () => {
    while (round.reports && !isOver) {
      await load.read(service.http, shop).catch(() => {});
      await pause(50);
    }
  };
  const asked = reporting();
  const { signal } = await service.exit;
  isOver = true;
  await Promise.all([...senders, asked]);
  return round.phase === 'stop' ? signal === 'SIGKILL' : !isLate;
}

/**
 * Starts the service, checks its counts, and kills it.
 * @returns true if the process was killed at the chosen system call
 */
async function playRound(scene: Scene, seed: number, patience: number): Promise<boolean> {
  const drawn = draw(seed);
  const round = { ...drawn, responses: drawn.responses * patience };
  const { data, args } = scene;
  const { env, arm } = killedAt(data, round.point);
  if (round.phase === 'replay') {
    arm();
    const service = await startBinary({ data, args, env }).catch(() => undefined);
    if (service === undefined) return true;
    await verify(service, scene, seed);
    await loadUntilGone(service, scene, round, seed, arm);
    return false;
  }
  const service = await startBinary({ data, args, env });
  await verify(service, scene, seed);
  if (round.removesSpares) {
    const journal = join(data, 'journal/1');
    for (const name of readdirSync(journal)) if (name.startsWith('spare-')) rmSync(join(journal, name));
  }
  if (round.phase !== 'stop') arm();
  return loadUntilGone(service, scene, round, seed, arm);
}

const phaseNames = Object.keys(phases);

/**
 * Returns the factor that extends the load of a round. Extra rounds follow the first `rounds`, until the process was
 * killed in every phase. They play only the phases without a kill.
 */
const computePatience = (index: number) => 2 ** Math.ceil(Math.max(0, index + 1 - rounds) / 3);
const mostPatience = 64;
const mostExtraRounds = 20;

test(
  `a server that was killed ${rounds} times, in every phase, counts accepted packets once`,
  async () => {
    const hits: Record<string, number> = {};
    let scene: Scene | undefined;
    let accepted = 0;
    const isLast = () =>
      played >= rounds && (phaseNames.every((phase) => phase in hits) || computePatience(played) > mostPatience);
    let played = 0;
    let seed = firstSeed * 1_000_000;
    for (let isOver = false; !isOver; ) {
      while (played >= rounds && draw(seed).phase in hits) seed += 1;
      if (played % roundsOfDirectory === 0) scene = await openScene(played / roundsOfDirectory);
      const { phase } = draw(seed);
      const isHit = await playRound(scene!, seed, computePatience(played));
      if (isHit) hits[phase] = (hits[phase] ?? 0) + 1;
      seed += 1;
      played += 1;
      isOver = isLast();
      if (!isOver && played % roundsOfDirectory > 0) continue;
      const service = await startBinary({ data: scene!.data });
      await verify(service, scene!, seed);
      accepted += scene!.load.accepted;
      service.kill('SIGTERM');
      expect(await service.exit).toEqual({ code: 0, signal: null });
    }
    console.log(`${played} rounds, ${accepted} accepted packets; killed in ${JSON.stringify(hits)}`);
    expect(Object.keys(hits).sort()).toEqual(phaseNames.toSorted());
  },
  (rounds + mostExtraRounds) * 60_000,
);
