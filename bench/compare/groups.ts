import { reports } from '../grpc.ts';
import { packets } from '../ingest.ts';
import { measureMemory, type Resident } from '../memory.ts';
import { identities } from '../mint.ts';
import { startListeners } from '../one-port.ts';
import { inTurn, type Run } from '../rounds.ts';
import { sizeMb, storeInUse, timeStart } from '../start.ts';
import { calls, issuing } from '../tokens.ts';
import { messages } from '../unleash.ts';
import { measure, prepareTrial, verifyTrial, type WearOptions, type WearRun } from '../wear.ts';
import { type CompareOptions, type Group, runSeconds, startSeconds, tolerances } from './group.ts';
import { driveAccepted, loadGroup, speedFigures } from './load-group.ts';
import { createRows, type Figure } from './row.ts';
import { prepareSides, sampleSides } from './sides.ts';

const { cost, p50, p99 } = tolerances;

/** Startup time on a store in use, and size of the executable. */
const start: Group = {
  seconds: ({ rounds }) => startSeconds + 2 * runSeconds(0.3) * rounds,
  async measure(binaries, { rounds }) {
    const sides = await prepareSides(binaries, async (_, binary) => ({ binary, data: await storeInUse(binary) }));
    const times = await sampleSides(rounds, sides, ({ binary, data }) => timeStart(binary, data));
    return [
      ...createRows('start', [{ name: 'start to ready, ms', of: (ms) => ms, better: 'less', tolerance: cost }], times),
      ...createRows(
        'start',
        [{ name: 'executable, MiB', of: sizeMb, better: 'less', tolerance: 0.01, exact: true }],
        [[binaries[0]], [binaries[1]]],
      ),
    ];
  },
};

/** Resident memory of a service with a fresh store. */
const memory: Group = {
  seconds: ({ rounds, packets }) => 2 * rounds * (2 + packets / 50_000),
  async measure(binaries, { rounds, packets }) {
    const sides = await prepareSides(binaries, async (_, binary) => binary);
    const resident = await sampleSides(rounds, sides, (binary) => measureMemory(binary, { packets, connections: 256 }));
    const after = `after ${packets.toLocaleString('en-GB')} packets`;
    const figures: readonly Figure<Resident>[] = [
      { name: 'idle, MiB', of: (each) => each.idle, better: 'less', tolerance: cost },
      { name: `${after}, MiB`, of: (each) => each.after, better: 'less', tolerance: cost },
      { name: 'peak, MiB', of: (each) => each.peak, better: 'less', tolerance: cost },
    ];
    return createRows('memory', figures, resident);
  },
};

/** Packet rates per second at which the use of the disk and the CPU is measured. */
const wearRates = [1_000, 5_000] as const;

/** Figures of the disk. They vary more than other figures, because a run has only two or three folds. */
const wearFigures: readonly Figure<WearRun>[] = [
  { name: 'disk per packet, kB', of: (run) => run.diskKb, better: 'less', tolerance: 0.1 },
  { name: 'flushes per packet', of: (run) => run.flushes, better: 'less', tolerance: 0.1 },
  { name: 'CPU per packet, µs', of: (run) => run.cpuUs, better: 'less', tolerance: cost },
  { name: 'p50, ms', of: (run) => run.p50Ms, better: 'less', tolerance: p50 },
  { name: 'p99, ms', of: (run) => run.p99Ms, better: 'less', tolerance: p99 },
];

const wearOptions = ({ seconds }: CompareOptions) => ({
  siblings: 100,
  people: Math.ceil(20_000 * seconds),
  connections: 256,
  seconds: 2.5 * seconds,
  idle: 0.25,
});

/** Disk and CPU use of packets at fixed rates. */
const wear: Group = {
  seconds: (options) =>
    startSeconds + 2 * (options.rounds * wearRates.length + 1) * (runSeconds(wearOptions(options).seconds) + 0.7),
  async measure(binaries, options) {
    const sides = await prepareSides(binaries, async (_, binary) => {
      const own: WearOptions = { ...wearOptions(options), binary };
      const subject = await prepareTrial('plain', undefined, own);
      // The first run is not measured, because it creates journal segments that later runs reuse.
      await measure(subject, 'plain', wearRates[0], own);
      return { own, subject };
    });
    const rates = [];
    for (const rate of wearRates) {
      const runs = await sampleSides(options.rounds, sides, ({ own, subject }) => measure(subject, 'plain', rate, own));
      rates.push({ rate, runs });
    }
    for (const side of sides) await side.attempt(({ subject }) => verifyTrial(subject));
    return rates.flatMap(({ rate, runs: [previous, current] }) =>
      createRows(`wear, ${rate.toLocaleString('en-GB')} packets/s`, wearFigures, [
        sides[0].available(previous),
        sides[1].available(current),
      ]),
    );
  },
};

const onePortConnections = [64, 256];

/** A run on the gRPC port, and the run on the HTTP listener in the same round. */
interface OnePortRun extends Run {
  readonly http: Run;
}

const onePortFigures: readonly Figure<OnePortRun>[] = [
  ...speedFigures('packet'),
  { name: 'speed ÷ HTTP listener', of: ({ rps, http }) => rps / http.rps, better: 'more', tolerance: cost },
];

/** Speed of HTTP/1.1 on the port of gRPC. */
const onePort: Group = {
  seconds: ({ rounds, seconds, warmup }) =>
    startSeconds + 4 * runSeconds(warmup) + 4 * onePortConnections.length * rounds * runSeconds(seconds * 1.2),
  async measure(binaries, { small, rounds, seconds, warmup }) {
    const sides = await prepareSides(binaries, async (name, binary) => {
      const listeners = await startListeners(name, binary, { connections: 64, seconds });
      for (const target of listeners.targets) await driveAccepted(target, { seconds: warmup });
      return listeners;
    });
    const sections = [];
    for (const connections of small ? [4] : onePortConnections) {
      const runs = await sampleSides(rounds, sides, async ({ targets }) => {
        // A round measures both listeners of an executable one after the other, because the figure is their ratio.
        const [[http], [one]] = (await inTurn(
          1,
          targets.map((target) => () => driveAccepted(target, { connections })),
        )) as [Run[], Run[]];
        return { ...one!, http: http! };
      });
      sections.push({ connections, runs });
    }
    for (const side of sides) await side.attempt(({ verify }) => verify());
    return sections.flatMap(({ connections, runs: [previous, current] }) =>
      createRows(`one-port, ${connections} connections`, onePortFigures, [
        sides[0].available(previous),
        sides[1].available(current),
      ]),
    );
  },
};

/** Groups of figures by the name of their benchmark, in the order of execution. */
export const groups: ReadonlyMap<string, Group> = new Map([
  ['start', start],
  ['memory', memory],
  ['token', loadGroup('token', issuing)],
  ['verify', loadGroup('verify', calls, [{ connections: 64, floor: true, half: false }])],
  ['mint', loadGroup('mint', identities, [{ connections: 256, floor: true, half: false }])],
  ['grpc', loadGroup('grpc', reports)],
  ['unleash', loadGroup('unleash', messages)],
  [
    'ingest',
    loadGroup('ingest', packets, [
      { connections: 256, floor: true, half: false },
      { connections: 64, floor: true, half: true },
      { connections: 8, floor: false, half: false },
      { connections: 1, floor: false, half: false },
    ]),
  ],
  ['one-port', onePort],
  ['wear', wear],
]);
