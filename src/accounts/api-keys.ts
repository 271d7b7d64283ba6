import type { ApiKey, AuditEntry, Role } from '../storage/lmdb/records.ts';
import { type Accounts, mustBelong, ofTeam } from './accounts.ts';
import { checkName, mustExist } from './checks.ts';
import type { Directory } from './directory.ts';
import { checkPlan } from './plans.ts';
import { hashSecret, matchesHash, newClientSecret, newId, type RandomBytes } from './secrets.ts';

/** A new API key with its secret, which is not stored. */
export interface NewApiKey {
  readonly apiKey: ApiKey;
  readonly clientSecret: string;
}

/** Compared for an unknown client, so that it takes equally long. */
const nobodysHash = '0'.repeat(64);

/**
 * Makes OAuth client credentials for a team.
 * @throws {ApiError} `not_found` (team), `invalid_name`, `plan_limit`
 */
export function createApiKey(
  directory: Directory,
  wanted: { readonly teamId: string; readonly name: string; readonly role: Role },
): Promise<NewApiKey> {
  return directory.change((draft) => {
    const { plan } = mustExist('team', draft.teams.get(wanted.teamId));
    checkName('an API key', wanted.name);
    checkPlan(plan, 'apiKeys', ofTeam(draft.apiKeys, wanted.teamId).length + 1);
    const number = draft.takeNumber('apiKey');
    const made = newApiKey({ ...wanted, number }, directory.clock.now(), directory.randomBytes);
    draft.put('apiKeys', made.apiKey.clientId, made.apiKey);
    draft.note('api-key.created', wanted.teamId, targetOf(made.apiKey));
    return made;
  });
}

/**
 * Deletes an API key of a team. Its tokens are rejected from now on.
 * @throws {ApiError} `not_found`
 */
export function deleteApiKey(directory: Directory, teamId: string, clientId: string): Promise<void> {
  return directory.change((draft) => {
    const apiKey = mustBelong('API key', draft.apiKeys.get(clientId), teamId);
    draft.remove('apiKeys', clientId);
    draft.note('api-key.deleted', teamId, targetOf(apiKey));
  });
}

/** The API key with these credentials, or `undefined`. An unknown client takes as long as a wrong secret. */
export function verifyClient(
  accounts: Pick<Accounts, 'apiKeys'>,
  clientId: string,
  clientSecret: string,
): ApiKey | undefined {
  const apiKey = accounts.apiKeys.get(clientId);
  return matchesHash(clientSecret, apiKey?.secretHash ?? nobodysHash) ? apiKey : undefined;
}

/** An API key that is not stored yet. */
export function newApiKey(
  wanted: Pick<ApiKey, 'number' | 'teamId' | 'name' | 'role'>,
  now: number,
  randomBytes: RandomBytes,
): NewApiKey {
  const clientSecret = newClientSecret(randomBytes);
  const { number, teamId, name, role } = wanted;
  const clientId = newId('client', randomBytes);
  return {
    apiKey: { clientId, number, teamId, name, role, secretHash: hashSecret(clientSecret), createdAt: now },
    clientSecret,
  };
}

function targetOf({ clientId, name }: ApiKey): AuditEntry['target'] {
  return { type: 'api-key', id: clientId, name };
}
