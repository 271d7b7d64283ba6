import { Piscina } from 'piscina';
import { Refusal } from '../../contract/errors.ts';
import type { SentBody } from '../../http/sent-body.ts';
import { logFailure } from '../../runtime/failures.ts';
import { FairQueue } from '../../runtime/fair-queue.ts';
import type { Log } from '../../runtime/log.ts';
import { unwrapResult } from '../../runtime/thread-calls.ts';
import type { DecodedBody, DecodeResult, DecodeTask, LargeFormat } from './decode-worker.ts';

/** Decodes large reports in another thread, because a few kB of gzip can take a second and block other requests. */
export interface DecodePool {
  /**
   * Runs `work` on a large report when it is the sender's turn. Runs one report at a time, round robin over senders.
   * @throws {Refusal} `rate_limited` or `backpressure` if too many reports are already waiting
   */
  schedule<T>(sender: string, work: () => Promise<T>): Promise<T>;
  /**
   * Decodes a report. Its bytes are transferred to the thread, so they cannot be read afterwards.
   * @param unpacked receives the decompressed length, even of a report that is then refused
   * @throws {Refusal} of status 400, 413 or 503
   */
  decode<Format extends LargeFormat>(
    body: SentBody,
    format: Format,
    unpacked: (bytes: number) => void,
  ): Promise<DecodedBody<Format>>;
  close(): Promise<void>;
}

const bounds = {
  atOnce: 1,
  waitingEach: 64,
  waitingAll: 1024,
  refusals: { each: 'Too many large reports of this sender are waiting', all: 'Too many large reports are waiting' },
};

/** Idle time after which the thread stops. The next large report starts it again. */
const idleTimeout = 60_000;

export function startDecodePool(workerFile: string, log: Log): DecodePool {
  const pool = new Piscina({
    filename: workerFile,
    minThreads: 0,
    maxThreads: 1,
    idleTimeout,
    // Disabled, so that the thread returns to its event loop between reports and can collect garbage there.
    atomics: 'disabled',
  });
  const queue = new FairQueue(bounds);
  const running = new Set<Promise<unknown>>();
  return {
    schedule: (sender, work) => queue.run(sender, work),
    async decode<Format extends LargeFormat>(
      { bytes: sent, layers, limit }: SentBody,
      format: Format,
      unpacked: (bytes: number) => void,
    ) {
      const bytes = ownBytes(sent);
      const task: DecodeTask = { format, bytes, layers, limit };
      const decoding = run(pool, task, bytes.buffer as ArrayBuffer);
      running.add(decoding);
      const decoded = await decoding
        .catch((error) => {
          logFailure(log, 'decoding a large report failed', error);
          throw new Refusal('backpressure', 'The report could not be decoded; try again', 5);
        })
        .finally(() => running.delete(decoding));
      unpacked(decoded.bytes);
      return unwrapResult(decoded) as DecodedBody<Format>;
    },
    async close() {
      await Promise.allSettled(running); // Otherwise closing the pool drops a task that waits for the thread.
      await pool.close();
    },
  };
}

/** @throws {Error} if the thread stops in the middle of a report; the pool replaces the thread */
function run(pool: Piscina, task: DecodeTask, memory: ArrayBuffer): Promise<DecodeResult> {
  return pool.run(task, { name: 'decode', transferList: [memory] });
}

/** Returns the bytes in a buffer of their own, because the transfer to another thread detaches the buffer. */
function ownBytes(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
}
