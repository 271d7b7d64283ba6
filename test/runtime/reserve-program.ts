import { once } from 'node:events';
import threads from 'node:worker_threads';
import { reserveDescriptors } from '../../src/runtime/descriptor-reserve.ts';

/** Starts threads with reserved descriptors, and prints how often their start blocked this thread. */

let waits = 0;
const { wait } = Atomics;
Object.assign(Atomics, {
  wait(...parameters: unknown[]) {
    waits += 1;
    return Reflect.apply(wait, Atomics, parameters);
  },
});
reserveDescriptors();
for (let started = 0; started < 20; started += 1) await once(new threads.Worker('', { eval: true }), 'exit');
console.log(waits);
process.exit();
