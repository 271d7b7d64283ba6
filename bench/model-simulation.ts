/** CPU and disk time of each step, µs. The values were measured with the other benchmarks. */
export interface Costs {
  /** CPU time of a packet on the thread that accepts it. */
  readonly accept: number;
  /** Additional CPU time of a packet on the main thread if another thread accepts the packet. */
  readonly main: number;
  /** CPU time of the journal thread: for a commit, and for each packet in it. */
  readonly commit: number;
  readonly append: number;
  /** Disk time: for the flush of a commit, and for the transfer of each packet. */
  readonly flush: number;
  readonly transfer: number;
  /** CPU time of a packet on the fold thread, and the share of this time in which the store is locked. */
  readonly fold: number;
  readonly write: number;
  /** CPU time per packet that the compiler, the garbage collector and the allocator of the runtime use. */
  readonly runtime: number;
  /** CPU time per packet that the load generator uses if it runs on the same cores; otherwise 0. */
  readonly generator: number;
}

export interface Machine {
  readonly cores: number;
  /** Number of front-end threads. With 0, the main thread accepts packets. */
  readonly threads: number;
  readonly workers: number;
  readonly applications: number;
  readonly connections: number;
}

export interface SimulationResult {
  readonly packetsPerSecond: number;
  /** Share of the cores that is in use. */
  readonly used: number;
  /** The busiest resource, and the share of the time in which it is busy. */
  readonly limit: string;
  readonly share: number;
}

/** Number of packets that a thread handles in one iteration of the event loop before other work. */
const turn = 32;
/** Limit of the journal: if this number of packets waits to be folded, commits wait, too. */
const unfolded = 200_000;
const warmUp = 50_000;
const measuredUs = 200_000;

interface Work {
  us: number;
  readonly done: () => void;
}

/** A thread or another resource. It does one unit of work at a time, and other work waits. */
class Resource {
  readonly name: string;
  busyUs = 0;
  readonly #simulation: Simulation;
  readonly #needsCore: boolean;
  readonly #waiting: Work[] = [];
  #isBusy = false;

  constructor(simulation: Simulation, name: string, needsCore = true) {
    this.#simulation = simulation;
    this.name = name;
    this.#needsCore = needsCore;
    simulation.resources.push(this);
  }

  get isIdle(): boolean {
    return !this.#isBusy;
  }

  work(us: number, done: () => void): void {
    this.#waiting.push({ us, done });
    if (!this.#isBusy) this.#next();
  }

  /** Adds the time since `began` to the busy time of the resource. */
  took(began: number): void {
    const { now } = this.#simulation;
    if (now > warmUp) this.busyUs += now - Math.max(began, warmUp);
  }

  #next(): void {
    const next = this.#waiting.shift();
    this.#isBusy = next !== undefined;
    if (next === undefined) return;
    const began = this.#simulation.now;
    const done = () => {
      this.took(began);
      next.done();
      this.#next();
    };
    if (this.#needsCore) this.#simulation.run({ us: next.us, done });
    else this.#simulation.after(next.us, done);
  }
}

/** Simulates threads that share the cores equally. Resources other than threads do not need a core. */
class Simulation {
  now = 0;
  /** CPU time of all threads. */
  coreUs = 0;
  readonly resources: Resource[] = [];
  readonly #cores: number;
  readonly #running = new Set<Work>();
  readonly #timed = new Set<{ readonly at: number; readonly done: () => void }>();

  constructor(cores: number) {
    this.#cores = cores;
  }

  get isMeasuring(): boolean {
    return this.now >= warmUp;
  }

  run(work: Work): void {
    this.#running.add(work);
  }

  after(us: number, done: () => void): void {
    this.#timed.add({ at: this.now + us, done });
  }

  runUntil(end: number): void {
    while (this.now < end) this.#step();
  }

  /** Advances the simulation to the end of the next work, or to the next timer if it is earlier. */
  #step(): void {
    const speed = Math.min(1, this.#cores / this.#running.size);
    const first = findFirst(this.#running, ({ us }) => us);
    const timed = findFirst(this.#timed, ({ at }) => at);
    const workEnd = first === undefined ? Number.POSITIVE_INFINITY : this.now + first.us / speed;
    const next = Math.min(workEnd, timed?.at ?? Number.POSITIVE_INFINITY);
    for (const work of this.#running) work.us -= (next - this.now) * speed;
    if (this.isMeasuring) this.coreUs += (next - this.now) * Math.min(this.#cores, this.#running.size);
    this.now = next;
    if (timed !== undefined && timed.at <= workEnd) {
      this.#timed.delete(timed);
      timed.done();
    } else if (first !== undefined) {
      this.#running.delete(first);
      first.done();
    }
  }
}

function findFirst<T>(items: Iterable<T>, order: (item: T) => number): T | undefined {
  let first: T | undefined;
  for (const item of items) if (first === undefined || order(item) < order(first)) first = item;
  return first;
}

/** The packets that one accepting thread sends to one journal lane. */
interface Stream {
  /** Number of packets in the open batch, and in the batch that is being committed. */
  open: number;
  committing: number;
  readonly settled: (packets: number) => void;
}

/** Simulates senders that send a packet when their previous packet is on disk. */
export function simulate(costs: Costs, machine: Machine): SimulationResult {
  const simulation = new Simulation(machine.cores);
  const generator = new Resource(simulation, 'generator', costs.generator > 0);
  const store = new Resource(simulation, 'store', false);
  const disk = new Resource(simulation, 'disk', false);
  const used = Math.min(machine.workers, machine.applications);
  const lanes = Array.from({ length: used }, () => createLane(simulation, costs, disk, store));
  const acceptors = Array.from(
    { length: Math.max(1, machine.threads) },
    () => new Resource(simulation, machine.threads === 0 ? 'main' : 'front'),
  );
  const main = machine.threads === 0 ? acceptors[0]! : new Resource(simulation, 'main');
  let counted = 0;
  for (const acceptor of acceptors) {
    const runtime = new Resource(simulation, 'runtime');
    let ready = Math.max(1, Math.round(machine.connections / acceptors.length));
    let application = 0;
    const streams = lanes.map((lane) => {
      const stream: Stream = { open: 0, committing: 0, settled: (packets) => countResponses(packets) };
      return { stream, commit: () => lane(stream) };
    });
    const countResponses = (packets: number) => {
      if (simulation.isMeasuring) counted += packets;
      const again = () => {
        ready += packets;
        if (acceptor.isIdle) accept();
      };
      if (costs.generator > 0) generator.work(packets * costs.generator, again);
      else again();
    };
    const accept = () => {
      const packets = Math.min(ready, turn);
      if (packets === 0) return;
      ready -= packets;
      runtime.work(packets * costs.runtime, () => {});
      if (acceptor !== main) main.work(packets * costs.main, () => {});
      acceptor.work(packets * costs.accept, () => {
        for (let n = 0; n < packets; n += 1) streams[(application++ % machine.applications) % used]!.stream.open += 1;
        for (const { stream, commit } of streams) if (stream.open > 0 && stream.committing === 0) commit();
        simulation.after(0, accept);
      });
    };
    accept();
  }
  simulation.runUntil(warmUp + measuredUs);
  const [busiest] = simulation.resources.toSorted((a, b) => b.busyUs - a.busyUs);
  return {
    packetsPerSecond: (counted / measuredUs) * 1e6,
    used: simulation.coreUs / measuredUs / machine.cores,
    limit: busiest!.name,
    share: busiest!.busyUs / measuredUs,
  };
}

/**
 * Creates a simulated journal lane. Its journal thread commits waiting batches, and its fold thread folds them.
 * @returns a function that commits the open batch of a stream
 */
function createLane(simulation: Simulation, costs: Costs, disk: Resource, store: Resource): (stream: Stream) => void {
  const journal = new Resource(simulation, 'journal');
  const fold = new Resource(simulation, 'fold');
  const commits = new Resource(simulation, 'commits', false);
  let waiting: Stream[] = [];
  let isCommitting = false;
  let backlog = 0;
  const follow = (packets: number) => {
    fold.work(packets * (costs.fold - costs.write), () =>
      store.work(packets * costs.write, () => {
        backlog -= packets;
        append();
      }),
    );
  };
  const append = () => {
    if (isCommitting || waiting.length === 0 || backlog > unfolded) return;
    isCommitting = true;
    const streams = waiting;
    waiting = [];
    const packets = streams.reduce((sum, { committing }) => sum + committing, 0);
    const onDisk = () => {
      isCommitting = false;
      backlog += packets;
      follow(packets);
      for (const stream of streams) settle(stream);
      append();
    };
    const began = simulation.now;
    journal.work(costs.commit + packets * costs.append, () =>
      disk.work(packets * costs.transfer, () =>
        simulation.after(costs.flush, () => {
          commits.took(began);
          onDisk();
        }),
      ),
    );
  };
  const commit = (stream: Stream) => {
    stream.committing = stream.open;
    stream.open = 0;
    waiting.push(stream);
    append();
  };
  const settle = (stream: Stream) => {
    const packets = stream.committing;
    stream.committing = 0;
    if (stream.open > 0) commit(stream);
    stream.settled(packets);
  };
  return commit;
}
