import type { Actor } from '../storage/lmdb/records.ts';
import type { Accounts } from './accounts.ts';

/** Who makes a change, and when, for the audit log; `at` in Unix ms. */
export interface Authorship {
  readonly actor: Actor;
  readonly at: number;
}

/** What the service does by itself. */
export const system: Actor = { type: 'system', id: '', name: '', address: '' };

/** Someone who has not shown who they are, such as after a failed sign-in; `address` is where the request came from. */
export function anonymous(address: string): Actor {
  return { type: 'anonymous', id: '', name: '', address };
}

/** The user or API key with this id, as it is called now. */
export function actorOf(
  { users, apiKeys }: Pick<Accounts, 'users' | 'apiKeys'>,
  id: string,
  address: string,
): Actor {
  const user = users.get(id);
  if (user !== undefined) return { type: 'user', id, name: user.email, address };
  return { type: 'api-key', id, name: apiKeys.get(id)?.name ?? '', address };
}
