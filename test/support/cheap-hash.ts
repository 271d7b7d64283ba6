import { argon2id } from 'hash-wasm';
import type { RandomBytes } from '../../src/accounts/secrets.ts';

/** Hashes a password at the lowest cost. Verifying a password has the cost that its hash states. */
export async function cheapHash(password: string, randomBytes: RandomBytes): Promise<string> {
  const ofBun = { algorithm: 'argon2id', memoryCost: 8, timeCost: 1 } as const;
  if (globalThis.Bun !== undefined) return Bun.password.hashSync(password, ofBun);
  const cost = { memorySize: 8, iterations: 1, parallelism: 1, hashLength: 32 };
  return argon2id({ password, salt: randomBytes(16), ...cost, outputType: 'encoded' });
}
