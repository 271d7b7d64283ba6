import { expiringDays, isUsable, previousSecretOf, scopesOf } from '../accounts/api-keys.ts';
import type { Directory } from '../accounts/directory.ts';
import { type ApiKey, plainKeySettings } from '../contract/shapes/api-key.ts';
import { pick } from '../contract/shapes/fields.ts';
import { timeText } from '../runtime/rfc3339.ts';
import type { PublicKey, Trust } from '../storage/lmdb/auth-records.ts';
import type { ApiKey as StoredApiKey } from '../storage/lmdb/records.ts';

/** An API key in the API. The service does not know its secret. */
export function showApiKey(directory: Directory, apiKey: StoredApiKey): ApiKey {
  const { clientId, role, teamId, applications, expiresAt = null, publicKeys, trust, createdAt } = apiKey;
  const now = directory.clock.now();
  const used = directory.lastUseOf(apiKey);
  return {
    clientId,
    ...pick(apiKey, plainKeySettings),
    role,
    teamId,
    scopes: [...scopesOf(apiKey)],
    applications: applications ? [...applications] : null,
    credential: credentialOf(apiKey),
    ...(trust !== undefined && { trust: showTrust(trust) }),
    publicKeys: showKeys(publicKeys),
    expiresAt: timeText(expiresAt),
    lastUsedAt: timeText(used?.at ?? null),
    lastSubject: used?.subject ?? null,
    previousSecretUntil: timeText(previousSecretOf(apiKey, now)?.until ?? null),
    warnings: warningsOf(apiKey, now),
    createdAt: timeText(createdAt),
  };
}

function credentialOf({ publicKeys, trust }: StoredApiKey): ApiKey['credential'] {
  if (trust !== undefined) return 'trust';
  return publicKeys === undefined ? 'secret' : 'public-keys';
}

function showTrust({ issuer, audience, subject, claims, publicKeys }: Trust) {
  return {
    issuer,
    audience,
    subject,
    ...(claims !== undefined && { claims: Object.fromEntries(claims) }),
    publicKeys: showKeys(publicKeys),
  };
}

function showKeys(keys: readonly PublicKey[] = []) {
  return keys.map(({ kid, alg }) => ({ kid, alg }));
}

function warningsOf(apiKey: StoredApiKey, now: number): ApiKey['warnings'] {
  if (!isUsable(apiKey, now))
    return [{ code: 'expired', message: 'This API key has expired: change its expiry, or delete it' }];
  const days = expiringDays(apiKey, now);
  if (days === undefined) return [];
  const when = days === 1 ? 'within a day' : `within ${days} days`;
  return [{ code: 'expiring', message: `This API key expires ${when}: change its expiry, or replace it` }];
}
