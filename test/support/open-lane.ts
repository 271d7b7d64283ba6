import type { Committer } from '../../src/storage/commit/committer.ts';
import type { Envelope } from '../../src/storage/commit/envelope.ts';
import { Lane } from '../../src/storage/commit/lane.ts';
import { QueueMonitor } from '../../src/storage/commit/queue-monitor.ts';
import type { NewSeries } from '../../src/storage/lmdb/series.ts';

const watermarks = { packets: { high: 100, low: 50 }, bytes: { high: 1e6, low: 5e5 }, age: { high: 100, low: 50 } };

const undelayed = { commitDelay: 0, commitSiblings: 100 };

/** Opens a journal lane. A test decides when its commits and delays end. */
export function openLane(batchPackets = 10, delay = undelayed, durable?: (series: readonly NewSeries[]) => void) {
  const begun: { envelope: Envelope; end: (error?: unknown) => Promise<void> }[] = [];
  const heard: unknown[] = [];
  const monitor = new QueueMonitor(watermarks);
  const committer: Committer = {
    commit: (envelope) =>
      new Promise((kept, refused) => {
        const end = async (error?: unknown) => {
          if (error === undefined) kept();
          else refused(error);
          await turn();
        };
        begun.push({ envelope, end });
      }),
    maintain: async () => 0,
    collect: () => {},
    close: async () => {},
  };
  const listener = {
    committed: (packets: number) => void heard.push(packets),
    failed: (error: unknown) => void heard.push(error),
    ...(durable && { durable }),
  };
  const time = {
    now: 0,
    timers: [] as { ms: number; end: () => Promise<void> }[],
    monotonic: () => time.now,
    after(ms: number, callback: () => void) {
      const end = async () => {
        callback();
        await turn();
      };
      time.timers.push({ ms, end });
    },
  };
  const lane = new Lane(committer, monitor, time, { batchPackets, ...delay }, listener);
  const send = (packets: number) => Array.from({ length: packets }, () => lane.submit(1, () => {}));
  return { lane, monitor, begun, heard, send, time };
}

/** Resolves after the next iteration of the event loop. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
}
