import { receiveMessageOnPort, workerData } from 'node:worker_threads';
import { threadTime } from './clock.ts';
import { Histogram } from './histogram.ts';
import {
  type Actions,
  type Answer,
  type Call,
  type CallChannel,
  closing,
  failureOf,
  type Outcome,
  signals,
} from './thread-calls.ts';
import { logThreadConsole } from './worker-log.ts';

/** The data with which a `WorkerThread` started this thread. Its console output goes to the log from then on. */
export function threadStart<Start extends object>(): Start & { readonly channel: CallChannel } {
  logThreadConsole();
  return workerData as Start & { readonly channel: CallChannel };
}

/**
 * Answers calls in order, one at a time, until one named `close` was answered. Between calls the thread sleeps: no timer or
 * other event fires in it.
 * @param onWake called after the calls of each wake; `observe` counts a delay since a time (`threadTime`)
 */
export function answerCalls(
  { port, signal, delays }: CallChannel,
  actions: Actions,
  onWake = (_observe: (at: number) => void) => {},
): void {
  const waited = new Histogram(undefined, delays);
  const observe = (at: number) => waited.observe(Math.max(0, threadTime() - at) / 1000);
  const answer = (message: Answer) => {
    port.postMessage(message);
    Atomics.add(signal, signals.answers, 1);
  };
  for (let seen = 0, open = true; open; ) {
    Atomics.wait(signal, signals.calls, seen);
    seen = Atomics.load(signal, signals.calls);
    for (let received = receiveMessageOnPort(port); received !== undefined; ) {
      const { id, name, task, at } = received.message as Call;
      observe(at);
      answer({ id, outcome: outcomeNow(() => actions[name]!(task as never)) });
      open &&= name !== closing;
      received = receiveMessageOnPort(port);
    }
    if (open) onWake(observe);
  }
  port.close();
}

function outcomeNow(action: () => unknown): Outcome {
  try {
    return { ok: true, value: action() };
  } catch (error) {
    return { ok: false, failure: failureOf(error) };
  }
}
