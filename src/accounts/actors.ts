import type { Actor } from '../store/records.ts';
import type { Directory } from './directory.ts';

/** What the service does by itself. */
export const system: Actor = { type: 'system', id: '', name: '', address: '' };

/** Somebody whom nobody knows yet, such as who fails to sign in; `address` is where the request came from. */
export function anonymous(address: string): Actor {
  return { type: 'anonymous', id: '', name: '', address };
}

/** The user or API key with this id, as it is called now. */
export function actorOf(
  { users, apiKeys }: Pick<Directory, 'users' | 'apiKeys'>,
  id: string,
  address: string,
): Actor {
  const user = users.get(id);
  if (user !== undefined) return { type: 'user', id, name: user.email, address };
  return { type: 'api-key', id, name: apiKeys.get(id)?.name ?? '', address };
}
