import { expiryDays } from '../contract/health.ts';
import type { ApiKey } from '../storage/lmdb/records.ts';
import type { Directory } from './directory.ts';

const dayMs = 24 * 3_600_000;

/** Days that an API key has left, rounded up, once it is to be announced. `undefined` before, and after the expiry. */
export function expiringDays(
  { expiresAt = Infinity }: Pick<ApiKey, 'expiresAt'>,
  now: number,
): number | undefined {
  const left = Math.ceil((expiresAt - now) / dayMs);
  return left > 0 && left <= Math.max(...expiryDays) ? left : undefined;
}

export function expiringKeys({ apiKeys, clock }: Pick<Directory, 'apiKeys' | 'clock'>): readonly ApiKey[] {
  const now = clock.now();
  return [...apiKeys.values()].filter((apiKey) => expiringDays(apiKey, now) !== undefined);
}

/** The announcement that is due for an API key: the days before its expiry. */
function dueFor(apiKey: ApiKey, now: number): number | undefined {
  const left = expiringDays(apiKey, now);
  const days = expiryDays.find((each) => left !== undefined && left <= each);
  return days !== undefined && days < (apiKey.expiryAnnounced ?? Infinity) ? days : undefined;
}

/**
 * Announces the expiry of API keys, each twice, whichever node does it.
 * @param isWanted whether the webhooks of a team receive the event
 */
export async function announceExpiringKeys(
  directory: Directory,
  isWanted: (teamId: string) => boolean,
): Promise<void> {
  const now = directory.clock.now();
  const due = expiringKeys(directory).filter(
    (apiKey) => isWanted(apiKey.teamId) && dueFor(apiKey, now) !== undefined,
  );
  if (due.length === 0) return;
  await directory.change((draft) => {
    for (const { clientId } of due) {
      const apiKey = draft.apiKeys.get(clientId);
      const days = apiKey && dueFor(apiKey, now);
      if (apiKey === undefined || days === undefined) continue;
      draft.put('apiKeys', clientId, { ...apiKey, expiryAnnounced: days });
      draft.announce('api-key.expiring', apiKey.teamId, {
        apiKey: { id: clientId, name: apiKey.name },
        expiresAt: new Date(apiKey.expiresAt!).toISOString(),
        daysLeft: expiringDays(apiKey, now)!,
      });
    }
  });
}
