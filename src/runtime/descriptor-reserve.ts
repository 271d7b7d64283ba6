import { closeSync, openSync, readdirSync, readlinkSync } from 'node:fs';
import threads, { Worker } from 'node:worker_threads';
import { Refusal } from '../contract/errors.ts';

/**
 * Descriptors for threads that start later, when connections may have used up the others. A front-end thread that accepts connections
 * at that moment would have to take all of them in the milliseconds that a start lasts.
 */
const size = 32;

/** The epoll and the eventfd descriptor of an event loop. Bun ends the process if a new thread cannot open them. */
const perThread = 2;

const held: number[] = [];
let wanted = 0;

/** Holds the descriptors, and starts later threads of this thread with them. Linux only. */
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

/** A thread that starts although no other descriptor is free. Piscina creates it as well: it reads the class from the module. */
class ReservingWorker extends Worker {
  constructor(...parameters: ConstructorParameters<typeof Worker>) {
    hold();
    if (held.length < perThread) throw new Refusal('backpressure', 'Too many files are open', 5);
    release();
    const before = new Set(openDescriptors());
    super(...parameters);
    waitForEventLoop(before);
    hold();
  }
}

function release(): void {
  for (const descriptor of held.splice(0)) closeSync(descriptor);
}

/** Opens what is missing, as far as descriptors are free. */
function hold(): void {
  try {
    while (held.length < wanted) held.push(openSync('/dev/null', 'r'));
  } catch {
    // The next start of a thread tries again.
  }
}

const never = new Int32Array(new SharedArrayBuffer(4));
const napMs = 0.2;
const mostNaps = 5_000;

/** Blocks this thread, which would accept connections otherwise, until the new one has its descriptors. This takes milliseconds. */
function waitForEventLoop(before: ReadonlySet<string>): void {
  const isOpen = () => openDescriptors().some((each) => !before.has(each) && isEvent(each));
  for (let naps = 0; naps < mostNaps && !isOpen(); naps += 1) Atomics.wait(never, 0, 0, napMs);
}

function openDescriptors(): string[] {
  return readdirSync('/proc/self/fd');
}

/** Opened after the epoll descriptor. */
function isEvent(descriptor: string): boolean {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`) === 'anon_inode:[eventfd]';
  } catch {
    return false; // Closed since it was listed.
  }
}
