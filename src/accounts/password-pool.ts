import { Piscina } from 'piscina';
import { Refusal } from '../contract/errors.ts';
import { usableCores } from '../runtime/cores.ts';
import { FairQueue } from '../runtime/fair-queue.ts';
import { commonPassword, refusedPassword } from './password-rules.ts';
import type { HashTask, VerifyTask } from './password-worker.ts';
import type { RandomBytes } from './secrets.ts';

/**
 * Hashes passwords in worker threads. A hash takes tens of milliseconds, which would block all other requests. Callers
 * of the management API share one thread, so that the other threads remain for sign-ins.
 */
export interface PasswordPool {
  /**
   * @param caller the id of a caller of the management API; absent for a sign-in
   * @throws {Refusal} `backpressure` if too many passwords are waiting, `rate_limited` if too many passwords of this
   * caller are waiting
   */
  checkRoom(caller?: string): void;
  /**
   * Hashes a new password as `hashPassword` does. Throws as `checkRoom` does, or `invalid_body` if the password is
   * common.
   */
  hash(password: string, randomBytes: RandomBytes, caller: string): Promise<string>;
  /** Verifies a password as `verifyPassword` does. Also throws as `checkRoom` does. */
  verify(password: string, hash: string, caller?: string): Promise<boolean>;
  close(): Promise<void>;
}

/** Maximum number of waiting passwords per thread. On a slow machine, this many passwords take two seconds. */
const maxWaiting = 32;

/** Number of hashing threads. Each needs 19 MiB while hashing. One core stays free for packets. */
const threads = Math.max(1, Math.min(4, usableCores() - 1));

export const tooManyPasswords = 'Too many passwords are waiting';

/** Limits for callers of the management API: one shared thread, and a queue of one second of work for each caller. */
const ofCallers = {
  atOnce: 1,
  waitingEach: 16,
  waitingAll: 64,
  refusals: { each: 'Too many of your passwords are waiting', all: tooManyPasswords },
};

/** Threads start on demand, and stop when idle for this long. */
const idleTimeout = 600_000;

/** @param workerFile the compiled `accounts/password-worker` */
export function startPasswordPool(workerFile: string): PasswordPool {
  const maxQueue = threads * maxWaiting;
  const pool = new Piscina({ filename: workerFile, minThreads: 0, maxThreads: threads, maxQueue, idleTimeout });
  const callers = new FairQueue(ofCallers);
  function checkPool(): void {
    if (pool.queueSize < maxQueue) return;
    throw new Refusal('backpressure', 'Too many passwords are waiting to be checked', 2);
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
