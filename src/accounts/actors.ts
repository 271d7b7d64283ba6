import type { Actor } from '../storage/lmdb/records.ts';
import type { Accounts } from './accounts.ts';

/** Who makes a change and when (Unix ms), for the audit log. */
export interface Authorship {
  readonly actor: Actor;
  readonly at: number;
}

export const system: Actor = { type: 'system', id: '', name: '', address: '' };

/** The user or API key with this id, under its current name. Without an id, an unauthenticated caller. */
export function actorOf(
  { users, apiKeys }: Pick<Accounts, 'users' | 'apiKeys'>,
  id: string | undefined,
  address: string,
): Actor {
  if (id === undefined) return { type: 'anonymous', id: '', name: '', address };
  const user = users.get(id);
  if (user !== undefined) return { type: 'user', id, name: user.email, address };
  return { type: 'api-key', id, name: apiKeys.get(id)?.name ?? '', address };
}
