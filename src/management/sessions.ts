import { missing } from '../accounts/checks.ts';
import type { Reader } from '../accounts/store/account-store.ts';
import { deviceName } from '../auth/factors/passkeys/device-name.ts';
import { findClient } from '../auth/oauth/clients.ts';
import { endSignIn, endsAt, findSessionUser, listSessionKeys, noteEnd } from '../auth/oauth/sessions.ts';
import { byPassword } from '../auth/oauth/sign-ins.ts';
import { Refusal } from '../contract/errors.ts';
import { SessionList, type SignInSessions } from '../contract/shapes/session.ts';
import { jsonResponse } from '../http/endpoint.ts';
import { noContent, ok } from '../http/responses.ts';
import { timeText } from '../runtime/rfc3339.ts';
import type { Session } from '../storage/lmdb/auth-records.ts';
import type { OAuthClient, User } from '../storage/lmdb/records.ts';
import type { Caller } from './access.ts';
import { type Call, endpoint, type Group } from './endpoint.ts';
import { done } from './responses.ts';
import type { Services } from './services.ts';

/** Maximum number of sign-ins in the list. */
const most = 200;

export const sessions: Group = {
  tag: 'Sessions',
  description: 'The sign-ins of users. One sign-in can have sessions with several clients.',
  endpoints: [
    endpoint('GET /users/:id/sessions', {
      access: { within: 'user', least: 'Admin', orSelf: true },
      operationId: 'listSessions',
      summary: 'List the sessions of a user, grouped by sign-in',
      description: `The last ${most} sign-ins with their sessions. The most recently used sign-in comes first. Sessions with clients of other teams are omitted.`,
      responses: { 200: jsonResponse(SessionList, 'The sign-ins.') },
      handle: (call, { accountStore }) => ok({ items: listSignIns(accountStore, call) }),
    }),
    endpoint('DELETE /users/:id/sessions/:signInId', {
      access: { within: 'user', least: 'Admin', orSelf: true },
      operationId: 'endSessions',
      summary: 'Sign a user out',
      description: 'Ends a sign-in with all its sessions.',
      responses: { 204: done('The sessions are ended, and their tokens are refused.') },
      async handle({ directory, user, params: { signInId } }) {
        await directory.change((tx) => {
          if (!hasSignIn(tx, user, signInId)) throw new Refusal('not_found', missing('sign-in'));
          endSignIn(directory, tx, user.id, signInId);
          noteEnd(tx, 'session.ended', user.id);
        });
        return noContent;
      },
    }),
  ],
};

/** True if a sign-in belongs to a user. */
function hasSignIn(reader: Pick<Reader, 'get' | 'keys'>, { id }: User, signIn: string): boolean {
  if (reader.get('signIns', signIn)?.userId === id) return true;
  return listSessionKeys(reader, id).some((key) => reader.get('sessions', key)?.signIn === signIn);
}

interface ShownSession {
  readonly key: string;
  readonly session: Session;
  readonly client: OAuthClient;
}

/** Returns the sessions of a user that a caller may see, grouped by sign-in. */
function listSignIns(
  accountStore: Services['accountStore'],
  { directory, caller, user }: Pick<Call<'', 'user'>, 'directory' | 'caller' | 'user'>,
): SignInSessions[] {
  const found = listSessionKeys(accountStore, user.id).flatMap((key): ShownSession[] => {
    const session = accountStore.get('sessions', key);
    if (session === undefined || findSessionUser(directory, directory, session) === undefined) return [];
    const client = findClient(directory, session.clientId);
    return client !== undefined && isShownTo(caller, client) ? [{ key, session, client }] : [];
  });
  found.sort((a, b) => b.session.refreshedAt - a.session.refreshedAt);
  const signIns = new Map<string, ShownSession[]>();
  for (const one of found) signIns.set(one.session.signIn, [...(signIns.get(one.session.signIn) ?? []), one]);
  return [...signIns.values()].slice(0, most).map((given) => showSignIn(given, caller));
}

/** @param given sessions of one sign-in, most recently used first */
function showSignIn(given: readonly ShownSession[], caller: Caller): SignInSessions {
  const { signIn, authTime, refreshedAt, authentication = byPassword } = given[0]!.session;
  const { factors, provider, userAgent } = authentication;
  return {
    signIn,
    current: given.some(({ key }) => key === caller.session),
    startedAt: timeText(authTime * 1000),
    factors: [...factors],
    provider: provider?.id ?? null,
    device: deviceName(userAgent),
    userAgent,
    lastUsedAt: timeText(refreshedAt),
    sessions: given.map(({ key, session, client }) => ({
      id: key,
      clientId: client.clientId,
      clientName: client.name,
      createdAt: timeText(session.createdAt),
      lastUsedAt: timeText(session.refreshedAt),
      expiresAt: timeText(endsAt(session)),
    })),
  };
}

/** True if a caller may see a client. Clients of other teams are hidden. */
function isShownTo({ teams }: Caller, { teamId }: OAuthClient): boolean {
  return teamId === null || teams.includes(teamId);
}
