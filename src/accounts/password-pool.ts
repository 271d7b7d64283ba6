import { availableParallelism } from 'node:os';
import { Piscina } from 'piscina';
import { Refusal } from '../errors.ts';
import type { HashTask, VerifyTask } from './password-worker.ts';
import type { RandomBytes } from './secrets.ts';

/** Hashes passwords in threads of their own: one hash takes tens of milliseconds, in which nothing else would be answered. */
export interface PasswordPool {
  /** @throws {Refusal} `backpressure` when too many passwords wait already */
  checkRoom(): void;
  /** As `hashPassword`. Throws as `checkRoom` too. */
  hash(password: string, randomBytes: RandomBytes): Promise<string>;
  /** As `verifyPassword`. Throws as `checkRoom` too. */
  verify(password: string, hash: string): Promise<boolean>;
  close(): Promise<void>;
}

/** Passwords that wait for one thread: two seconds' worth on a slow machine. */
const mostWaiting = 32;

/** Each thread takes 19 MiB while it hashes, and leaves a core to those who only want a packet counted. */
const threads = Math.max(1, Math.min(4, availableParallelism() - 1));

/** The threads are started when they are needed, and end when nobody has signed in for so long. */
const idleTimeout = 600_000;

/** @param workerFile the compiled `accounts/password-worker` */
export function startPasswordPool(workerFile: string): PasswordPool {
  const maxQueue = threads * mostWaiting;
  const pool = new Piscina({
    filename: workerFile,
    minThreads: 0,
    maxThreads: threads,
    maxQueue,
    idleTimeout,
  });
  function checkRoom(): void {
    if (pool.queueSize < maxQueue) return;
    throw new Refusal('backpressure', 'Too many passwords are waiting to be checked', 2);
  }
  function run<T>(name: string, task: HashTask | VerifyTask): Promise<T> {
    checkRoom();
    return pool.run(task, { name });
  }
  return {
    checkRoom,
    hash: (password, randomBytes) => run('hash', { password, salt: randomBytes(16) }),
    verify: (password, hash) => run('verify', { password, hash }),
    close: () => pool.close(),
  };
}
