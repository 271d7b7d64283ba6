import { missing } from '../accounts/checks.ts';
import type { Reader } from '../accounts/store/account-store.ts';
import { findClient } from '../auth/clients.ts';
import { endSignIn, endsAt, noteEnd, sessionKeysOf, userOf } from '../auth/sessions.ts';
import { ApiError } from '../contract/errors.ts';
import { SessionList, type SignInSessions } from '../contract/shapes/session.ts';
import { noContent, ok } from '../http/answer.ts';
import { type Group, jsonAnswer } from '../http/endpoint.ts';
import type { Session } from '../storage/lmdb/auth-records.ts';
import type { OAuthClient, User } from '../storage/lmdb/records.ts';
import { done, timeText } from './answers.ts';
import type { Caller, ManageDeps } from './caller.ts';
import { type Call, endpoint } from './endpoint.ts';

export interface UserSessionDeps extends ManageDeps {
  readonly accountStore: Pick<Reader, 'get' | 'keys'>;
}

/** The sign-ins that are shown at the most: those that were used last. */
const most = 200;

export const sessions: Group<UserSessionDeps> = {
  tag: 'Sessions',
  description: 'Where users are signed in. A sign-in may have given sessions to several clients.',
  endpoints: [
    endpoint('GET /users/:id/sessions', {
      access: { within: 'user', least: 'Admin', orSelf: true },
      operationId: 'listSessions',
      summary: 'List the sessions of a user, by sign-in',
      description: `The ${most} sign-ins that were used last; the latest comes first. Sessions of clients of other teams are left out.`,
      answers: { 200: jsonAnswer(SessionList, 'The sign-ins.') },
      handle: (call, { accountStore }: UserSessionDeps) => ok({ items: signInsOf(accountStore, call) }),
    }),
    endpoint('DELETE /users/:id/sessions/:signInId', {
      access: { within: 'user', least: 'Admin', orSelf: true },
      operationId: 'endSessions',
      summary: 'Sign a user out',
      description: 'Ends a sign-in, with all sessions that it gave.',
      answers: { 204: done('They are ended, and their tokens are refused.') },
      async handle({ directory, user, params: { signInId } }) {
        await directory.change((draft) => {
          if (!isOf(draft, user, signInId)) throw new ApiError('not_found', missing('sign-in'));
          endSignIn(directory, draft, user.id, signInId);
          noteEnd(draft, 'session.ended', user.id);
        });
        return noContent;
      },
    }),
  ],
};

/** Whether a user has signed in so. */
function isOf(reader: Pick<Reader, 'get' | 'keys'>, { id }: User, signIn: string): boolean {
  if (reader.get('signIns', signIn)?.userId === id) return true;
  return sessionKeysOf(reader, id).some((key) => reader.get('sessions', key)?.signIn === signIn);
}

interface Shown {
  readonly key: string;
  readonly session: Session;
  readonly client: OAuthClient;
}

/** The sessions that a caller may see of a user, folded by sign-in. */
function signInsOf(
  accountStore: UserSessionDeps['accountStore'],
  { directory, caller, user }: Pick<Call<'', 'user'>, 'directory' | 'caller' | 'user'>,
): SignInSessions[] {
  const found = sessionKeysOf(accountStore, user.id).flatMap((key): Shown[] => {
    const session = accountStore.get('sessions', key);
    if (session === undefined || userOf(directory, directory, session) === undefined) return [];
    const client = findClient(directory, session.clientId);
    return client !== undefined && isShownTo(caller, client) ? [{ key, session, client }] : [];
  });
  found.sort((a, b) => b.session.refreshedAt - a.session.refreshedAt);
  const signIns = new Map<string, Shown[]>();
  for (const one of found) signIns.set(one.session.signIn, [...(signIns.get(one.session.signIn) ?? []), one]);
  return [...signIns.values()].slice(0, most).map((given) => showSignIn(given, caller));
}

/** @param given what one sign-in gave; the last used one comes first */
function showSignIn(given: readonly Shown[], caller: Caller): SignInSessions {
  const { signIn, authTime, refreshedAt } = given[0]!.session;
  return {
    signIn,
    current: given.some(({ key }) => key === caller.session),
    startedAt: timeText(authTime * 1000),
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

/** What a user does with clients of another team is no business of this one. */
function isShownTo({ teams }: Caller, { teamId }: OAuthClient): boolean {
  return teamId === null || teams.includes(teamId);
}
