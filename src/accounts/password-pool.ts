import { availableParallelism } from 'node:os';
import { Piscina } from 'piscina';
import { ApiError } from '../contract/errors.ts';
import { FairQueue } from '../runtime/fair-queue.ts';
import { commonPassword } from './password-rules.ts';
import type { HashTask, VerifyTask } from './password-worker.ts';
import { refusedPassword } from './refused-password.ts';
import type { RandomBytes } from './secrets.ts';

/**
 * Hashes passwords in threads of their own: one hash takes tens of milliseconds, in which nothing else would be answered.
 * The callers of the management API share one of the threads, so that people can sign in however many passwords are set.
 */
export interface PasswordPool {
  /**
   * @param caller an id of a caller of the management API; without it, it is a sign-in
   * @throws {ApiError} `backpressure` when too many passwords wait already, `rate_limited` when too many of this caller do
   */
  checkRoom(caller?: string): void;
  /** Hashes a new password as `hashPassword` does. Throws as `checkRoom`, and `invalid_body` for a common password. */
  hash(password: string, randomBytes: RandomBytes, caller: string): Promise<string>;
  /** As `verifyPassword`. Throws as `checkRoom` too. */
  verify(password: string, hash: string, caller?: string): Promise<boolean>;
  close(): Promise<void>;
}

/** Passwords that wait for one thread: two seconds' worth on a slow machine. */
const maxWaiting = 32;

/** Each thread takes 19 MiB while it hashes, and leaves a core to those who only want a packet counted. */
const threads = Math.max(1, Math.min(4, availableParallelism() - 1));

export const tooManyPasswords = 'Too many passwords are waiting';

/** Bounds for callers of the management API: one thread for all, and about a second of work waiting for each. */
const ofCallers = {
  atOnce: 1,
  waitingEach: 16,
  waitingAll: 64,
  refusals: { each: 'Too many passwords of yours are waiting', all: tooManyPasswords },
};

/** The threads are started when they are needed, and end when no one has signed in for so long. */
const idleTimeout = 600_000;

/** @param workerFile the compiled `accounts/password-worker` */
export function startPasswordPool(workerFile: string): PasswordPool {
  const maxQueue = threads * maxWaiting;
  const pool = new Piscina({
    filename: workerFile,
    minThreads: 0,
    maxThreads: threads,
    maxQueue,
    idleTimeout,
  });
  const callers = new FairQueue(ofCallers);
  function checkPool(): void {
    if (pool.queueSize < maxQueue) return;
    throw new ApiError('backpressure', 'Too many passwords are waiting to be checked', 2);
  }
  function run<T>(name: string, task: HashTask | VerifyTask, caller?: string): Promise<T> {
    const work = () => {
      checkPool();
      return pool.run(task, { name });
    };
    return caller === undefined ? work() : callers.run(caller, work);
  }
  return {
    checkRoom: (caller) => (caller === undefined ? checkPool() : callers.checkRoom(caller)),
    async hash(password, randomBytes, caller) {
      const task = { password, salt: randomBytes(16) };
      const hashed = await run<string | undefined>('hash', task, caller);
      if (hashed === undefined) throw refusedPassword(commonPassword);
      return hashed;
    },
    verify: (password, hash, caller) => run('verify', { password, hash }, caller),
    close: () => pool.close(),
  };
}
