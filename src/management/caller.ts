import type { AccountDraft } from '../accounts/account-draft.ts';
import type { Accounts } from '../accounts/accounts.ts';
import type { Directory } from '../accounts/directory.ts';
import type { Authenticate } from '../auth/bearer.ts';
import { findClient, teamsThrough } from '../auth/clients.ts';
import type { KeyedLimits } from '../ingest/admission/keyed-limits.ts';
import type { Role } from '../storage/lmdb/records.ts';
import type { FreshnessDeps } from './freshly.ts';

export interface Caller {
  /** A user's id, or the client id of an API key. */
  readonly id: string;
  readonly role: Role;
  readonly teams: readonly string[];
  readonly primaryTeam: string;
  /** The key of the session that the request belongs to; `undefined` of an API key. */
  readonly session: string | undefined;
}

/** What every endpoint of the management API works on. */
export interface ManageDeps extends FreshnessDeps {
  readonly directory: Directory;
  readonly authenticate: Authenticate;
  /** Whether a token that was authenticated is still valid when a change is made: the body may take long to arrive. */
  readonly isStillValid: (claims: Claims, draft: AccountDraft) => boolean;
  /** Limits the requests of a client, which has one rate for all of its tokens. By `holderKeyOf`. */
  readonly rates: KeyedLimits;
}

/** What an access token says of its holder. */
export type Claims = Awaited<ReturnType<Authenticate>>;

/**
 * The caller that a token stands for. A token lives for an hour, so each property is read from the accounts when it is used:
 * a caller who joins or leaves a team, loses a role or is deleted has the effect at once.
 */
export function callerOf(
  { users, apiKeys, clients }: Pick<Accounts, 'users' | 'apiKeys' | 'clients'>,
  { sub: id, client_id: clientId, role, team, primaryTeam, sid: session }: Claims,
): Caller {
  if (id === clientId) {
    const exists = () => apiKeys.has(id);
    return {
      id,
      primaryTeam,
      session,
      get role() {
        return exists() ? role : 'User';
      },
      get teams() {
        return exists() ? team : [];
      },
    };
  }
  const now = () =>
    teamsThrough(users.get(id) ?? { teams: [], primaryTeam: '' }, findClient({ clients }, clientId));
  return {
    id,
    session,
    get role() {
      return users.get(id)?.role === 'Admin' ? role : 'User';
    },
    get teams() {
      return now().teams;
    },
    get primaryTeam() {
      return now().primaryTeam;
    },
  };
}
