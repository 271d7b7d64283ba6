import type { Actor } from '../store/records.ts';

/** What the service does by itself. */
export const system: Actor = { type: 'system', id: '', name: '', address: '' };

/** Somebody whom nobody knows yet, such as who fails to sign in; `address` is where the request came from. */
export function anonymous(address: string): Actor {
  return { type: 'anonymous', id: '', name: '', address };
}
