import { closeSync, openSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import threads, { Worker } from 'node:worker_threads';
import { Refusal } from '../contract/errors.ts';

/**
 * Number of file descriptors that are reserved for threads. When a thread starts, connections might be using all other
 * descriptors. The reserve is large because a front-end thread can accept connections during the milliseconds in which
 * another thread starts.
 */
const size = 32;

/** Number of descriptors of an event loop: epoll and eventfd. Bun ends the process if a new thread cannot open them. */
const perThread = 2;

/** Connections cannot use up this number of free descriptors while a thread starts, so the start is not awaited. */
const plenty = 1000;

const held: number[] = [];
let wanted = 0;

/** Reserves the descriptors. Threads that this thread starts later use the reserve. Linux only. */
export function reserveDescriptors(): void {
  wanted = size;
  hold();
  Object.assign(threads, { Worker: ReservingWorker });
}

export function withReserve<T>(work: () => T): T {
  release();
  try {
    return work();
  } finally {
    hold();
  }
}

/** A thread that can start when no descriptor is free. Piscina uses the class for its threads, too. */
class ReservingWorker extends Worker {
  constructor(...parameters: ConstructorParameters<typeof Worker>) {
    hold();
    if (held.length < perThread) throw new Refusal('backpressure', 'Too many files are open', 5);
    release();
    const before = openDescriptors();
    const free = (readDescriptorLimit() ?? 0) - before.length;
    super(...parameters);
    if (free < plenty) waitForEventLoop(new Set(before));
    hold();
  }
}

/** Reads the soft limit on open files. Bun raises the limit to the hard limit at startup. */
export function readDescriptorLimit(): number | undefined {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === undefined ? undefined : Number(soft);
  } catch {
    return undefined;
  }
}

function release(): void {
  for (const descriptor of held.splice(0)) closeSync(descriptor);
}

/** Opens file descriptors until the reserve is full or no descriptor is free. */
function hold(): void {
  try {
    while (held.length < wanted) held.push(openSync('/dev/null', 'r'));
  } catch {
    // The next start of a thread tries to fill the reserve again.
  }
}

const never = new Int32Array(new SharedArrayBuffer(4));
const napMs = 0.2;
const mostNaps = 5_000;

/**
 * Blocks this thread until the new thread has opened its descriptors, so that this thread accepts no connections until
 * then. The wait usually takes milliseconds. It takes over a second if the new eventfd has a number that is in
 * `before`, because the descriptor with this number was closed after `before` was listed.
 */
function waitForEventLoop(before: ReadonlySet<string>): void {
  const isOpen = () => openDescriptors().some((each) => !before.has(each) && isEvent(each));
  for (let naps = 0; naps < mostNaps && !isOpen(); naps += 1) Atomics.wait(never, 0, 0, napMs);
}

function openDescriptors(): string[] {
  return readdirSync('/proc/self/fd');
}

/** True if a descriptor is an eventfd, which a thread opens last, after its epoll descriptor. */
function isEvent(descriptor: string): boolean {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`) === 'anon_inode:[eventfd]';
  } catch {
    return false; // The descriptor was closed after it was listed.
  }
}
