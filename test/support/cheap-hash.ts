import { argon2id } from 'hash-wasm';
import type { RandomBytes } from '../../src/accounts/secrets.ts';

/** As `hashPassword`, at the lowest cost. A password is verified at the cost of its hash. */
export function cheapHash(password: string, randomBytes: RandomBytes): Promise<string> {
  const cost = { memorySize: 8, iterations: 1, parallelism: 1, hashLength: 32 };
  return argon2id({ password, salt: randomBytes(16), ...cost, outputType: 'encoded' });
}
