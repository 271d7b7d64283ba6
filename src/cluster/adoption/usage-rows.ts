import { messagesSince } from '../../store/messages.ts';
import type { ReplicaStore } from '../../store/replica-store.ts';
import { transact } from '../../store/transact.ts';
import { CountedMessages } from '../counted-messages.ts';
import { ReplicaState } from '../replica-state.ts';
import type { ReplicaSettings } from '../settings.ts';

/**
 * Adds to a usage store what a replica has besides, as if it had applied the first entry of a log. A server that runs on one machine
 * takes no notice of it, so the directory can still be used as before.
 */
export function addReplicaRows(store: ReplicaStore, entry: string, settings: ReplicaSettings): void {
  transact(store.lmdb, () => {
    for (const table of ['replica', 'streamSeries', 'messageTimes', 'forgotten', 'erased'] as const)
      store[table].clearSync();
    const messages = messagesSince(store, 0, Number.MAX_SAFE_INTEGER);
    const counted = new CountedMessages(store);
    for (const message of messages) counted.add(message);
    const state = new ReplicaState(store);
    state.set('settings', settings);
    state.set('own:applied', { position: 1, id: entry });
  });
}
