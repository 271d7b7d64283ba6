import { workerData } from 'node:worker_threads';
import { type PublicationEnd, Publisher, Subscriber } from '../../src/runtime/publication.ts';

export interface PublicationStart {
  readonly news: PublicationEnd;
  readonly back: PublicationEnd;
  /** Number of the last message for which `publish` has returned. -1 stops the thread. */
  readonly published: Int32Array;
}

export interface SeenState {
  readonly applied: number;
  /** Number of messages that were not in order. */
  readonly disordered: number;
  /** Number of messages that were not applied although `published` included them. */
  readonly late: number;
}

const { news, back, published } = workerData as PublicationStart;
let applied = 0;
let disordered = 0;
let late = 0;
const subscriber = new Subscriber<number>(news, (message) => {
  if (message !== applied + 1) disordered += 1;
  applied = message;
});
const publisher = new Publisher<SeenState | 'ready'>(back);

/** Compares the counters many times in an iteration of the event loop, as a thread with many packets does. */
function look(): void {
  for (let times = 0; times < 200; times += 1) {
    const last = Atomics.load(published, 0);
    if (last === -1) {
      subscriber.close();
      publisher.publish({ applied, disordered, late });
      return;
    }
    subscriber.catchUp();
    if (applied < last) late += 1;
  }
  setImmediate(look);
}

publisher.publish('ready');
look();
