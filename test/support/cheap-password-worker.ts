import { isCommonPassword } from '../../src/accounts/password-rules.ts';
import type { HashTask } from '../../src/accounts/password-worker.ts';
import { cheapHash } from './cheap-hash.ts';

/** The thread that hashes passwords, at the lowest cost. */

export { verify } from '../../src/accounts/password-worker.ts';

export async function hash({ password, salt }: HashTask): Promise<string | undefined> {
  return (await isCommonPassword(password)) ? undefined : cheapHash(password, () => salt);
}
