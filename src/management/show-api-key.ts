import { previousSecretOf } from '../accounts/api-keys.ts';
import type { Directory } from '../accounts/directory.ts';
import type { ApiKey } from '../contract/shapes/api-key.ts';
import type { ApiKey as StoredApiKey } from '../storage/lmdb/records.ts';
import { timeText } from './answers.ts';

const dayMs = 24 * 3_600_000;
const warningMs = 14 * dayMs;

/** An API key in the API. The service does not know its secret. */
export function showApiKey(directory: Directory, apiKey: StoredApiKey): ApiKey {
  const { clientId, name, role, teamId, expiresAt = null, publicKeys, createdAt } = apiKey;
  const now = directory.clock.now();
  return {
    ...{ clientId, name, role, teamId },
    credential: publicKeys === undefined ? 'secret' : 'public-keys',
    publicKeys: (publicKeys ?? []).map(({ kid, alg }) => ({ kid, alg })),
    expiresAt: timeText(expiresAt),
    lastUsedAt: timeText(directory.apiKeyUsedAt(apiKey)),
    previousSecretUntil: timeText(previousSecretOf(apiKey, now)?.until ?? null),
    warnings: expiresAt === null ? [] : warningsOf(expiresAt - now),
    createdAt: timeText(createdAt),
  };
}

/** @param left time until the expiry, ms */
function warningsOf(left: number): ApiKey['warnings'] {
  if (left <= 0)
    return [{ code: 'expired', message: 'This API key has expired: change its expiry, or delete it' }];
  if (left > warningMs) return [];
  const days = Math.ceil(left / dayMs);
  const when = days === 1 ? 'within a day' : `within ${days} days`;
  return [{ code: 'expiring', message: `This API key expires ${when}: change its expiry, or replace it` }];
}
