import type { ApiKey, Role } from '../store/records.ts';
import { checkLimit, checkName, mustExist } from './checks.ts';
import type { Directory } from './directory.ts';
import { limits } from './limits.ts';
import { hashSecret, matchesHash, newClientSecret, newId, type RandomBytes } from './secrets.ts';

/** An API key just made, with its secret, which exists nowhere else. */
export interface NewApiKey {
  readonly apiKey: ApiKey;
  readonly clientSecret: string;
}

/** What to compare with when there is no such client, so that it takes the same time. */
const nobodysHash = '0'.repeat(64);

/**
 * Makes OAuth client credentials for a team.
 * @throws {Refusal} `not_found` (team), `invalid_name`, `plan_limit`
 */
export function createApiKey(
  directory: Directory,
  wanted: { readonly teamId: string; readonly name: string; readonly role: Role },
): Promise<NewApiKey> {
  return directory.change((draft) => {
    mustExist('team', directory.teams.get(wanted.teamId));
    checkName('an API key', wanted.name);
    const count = apiKeysOf(directory, wanted.teamId).length + 1;
    checkLimit('API keys in a team', count, limits.apiKeysPerTeam);
    const made = newApiKey(wanted, directory.clock.now(), directory.randomBytes);
    draft.put('apiKeys', made.apiKey.clientId, made.apiKey);
    return made;
  });
}

/** Deletes an API key of a team; its tokens are refused from now on. @throws {Refusal} `not_found` */
export function deleteApiKey(directory: Directory, teamId: string, clientId: string): Promise<void> {
  return directory.change((draft) => {
    const found = directory.apiKeys.get(clientId);
    mustExist('API key', found?.teamId === teamId ? found : undefined);
    draft.remove('apiKeys', clientId);
  });
}

/** The API keys of a team, in no particular order. */
export function apiKeysOf(directory: Directory, teamId: string): ApiKey[] {
  return [...directory.apiKeys.values()].filter((apiKey) => apiKey.teamId === teamId);
}

/** The API key of these credentials, or `undefined`: an unknown client takes as long as a wrong secret. */
export function verifyClient(
  directory: Pick<Directory, 'apiKeys'>,
  clientId: string,
  clientSecret: string,
): ApiKey | undefined {
  const apiKey = directory.apiKeys.get(clientId);
  return matchesHash(clientSecret, apiKey?.secretHash ?? nobodysHash) ? apiKey : undefined;
}

/** An API key that is not stored yet. */
export function newApiKey(
  wanted: { readonly teamId: string; readonly name: string; readonly role: Role },
  now: number,
  randomBytes: RandomBytes,
): NewApiKey {
  const clientSecret = newClientSecret(randomBytes);
  const { teamId, name, role } = wanted;
  const clientId = newId('client', randomBytes);
  return {
    apiKey: { clientId, teamId, name, role, secretHash: hashSecret(clientSecret), createdAt: now },
    clientSecret,
  };
}
