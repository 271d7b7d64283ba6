import type { Accounts } from '../accounts/accounts.ts';
import { missing, mustExist, nameRule } from '../accounts/checks.ts';
import type { Directory } from '../accounts/directory.ts';
import { newLink } from '../accounts/invitations.ts';
import { tooManyPasswords } from '../accounts/password-pool.ts';
import { noPasswordHash, temporary } from '../accounts/passwords.ts';
import { overPlan } from '../accounts/plans.ts';
import {
  checkNewUser,
  checkPassword,
  createUser,
  deleteUser,
  emailTaken,
  type NewUser as NewUserRecord,
} from '../accounts/users.ts';
import { ApiError } from '../contract/errors.ts';
import { NewUser, User, UserPatch, UserShownOnce } from '../contract/shapes/user.ts';
import { noContent, ok } from '../http/answer.ts';
import { jsonAnswer } from '../http/endpoint.ts';
import { pageOf, paging } from '../http/lists.ts';
import { checkManages, notInTeam } from './access.ts';
import { created, done, EntityTagOfUser, made, oneTagged, page, tagged } from './answers.ts';
import type { Caller } from './caller.ts';
import { endpoint, type Group } from './endpoint.ts';
import { showNewLink } from './reset-links.ts';
import type { Services } from './services.ts';
import { showAsUser, showUser } from './show-user.ts';
import { checkManagesAllOf, patchUserFor } from './user-patch.ts';

const self = 'You cannot delete yourself; another Admin can';

export const users: Group = {
  tag: 'Users',
  description: 'People who sign in.',
  endpoints: [
    endpoint('GET /users', {
      access: { within: 'service', least: 'Viewer' },
      operationId: 'listUsers',
      summary: 'List the users of your teams',
      query: paging,
      answers: { 200: page(User, 'The oldest user comes first.') },
      handle({ directory, caller, query }) {
        const own = new Set(caller.teams);
        const all = [...directory.users.values()];
        const visible = all.filter(({ teams }) => teams.some((team) => own.has(team)));
        return ok(pageOf(visible, query, (user) => showUser(user, caller)));
      },
    }),
    endpoint('POST /users', {
      access: { within: 'service', least: 'Admin', recent: true },
      operationId: 'createUser',
      summary: 'Create a user',
      description:
        'The first team is the primary team of the user. Without `password`, the answer has an invitation: a link with which the user chooses one. A given password has to be replaced at the first sign-in.',
      body: NewUser,
      answers: { 201: made(UserShownOnce, 'The user.') },
      refuses: {
        invalid_name: nameRule('a user'),
        not_found: missing('team'),
        not_in_team: notInTeam.team,
        conflict: emailTaken,
        backpressure: tooManyPasswords,
        plan_limit: overPlan('free', 'members'),
      },
      async handle({ directory, caller, callerIn, body }, services) {
        const { password, teams = [caller.primaryTeam], ...rest } = body;
        const wanted = { role: 'User' as const, ...rest, teams };
        if (password !== undefined) checkPassword(password, wanted.email);
        checkManagesTeams(directory, caller, teams);
        checkNewUser(directory, wanted); // Before the hash, which takes long.
        const own = directory.under({ check: (draft) => checkManagesTeams(draft, callerIn(draft), teams) });
        if (password === undefined) return invite(services, own, wanted, caller);
        const passwordHash = await services.passwords.hash(password, directory.randomBytes, caller.id);
        const user = await createUser(own, { ...wanted, passwordHash, ...temporary(passwordHash) });
        return created(['users', user.id], { ...showUser(user, caller), invitation: null });
      },
    }),
    endpoint('GET /users/me', {
      access: { within: 'service', least: 'Viewer', scope: 'ingest-adopt', bound: true },
      operationId: 'getMe',
      summary: 'Read the user of the token',
      description: 'An API key has the shape of a user.',
      answers: { 200: jsonAnswer(User, 'The user or API key.', { ETag: EntityTagOfUser }) },
      handle({ directory, caller }) {
        const user = directory.users.get(caller.id);
        if (user !== undefined) return tagged(showUser(user, caller));
        return ok(showAsUser(mustExist('user', directory.apiKeys.get(caller.id))));
      },
    }),
    endpoint('GET /users/:id', {
      access: { within: 'user', least: 'Viewer' },
      operationId: 'getUser',
      summary: 'Read a user',
      answers: { 200: oneTagged(User, 'The user.') },
      handle: ({ caller, user }) => tagged(showUser(user, caller)),
    }),
    endpoint('PATCH /users/:id', {
      access: { within: 'user', least: 'Admin', orSelf: true, recent: 'partly' },
      operationId: 'changeUser',
      summary: 'Change a user',
      description: `All users may change their own name, primary team and, with \`currentPassword\`, password. Admins may also change their own
e-mail address, with \`currentPassword\`, and the name of others. Other fields of others require an Admin of all of their teams,
and a recent sign-in.
A new password signs the user out everywhere. For others, \`POST /users/{id}/reset-link\` makes a link with which they choose one.`,
      body: UserPatch,
      matches: true,
      answers: { 200: oneTagged(User, 'The user after the change.') },
      refuses: { invalid_name: nameRule('a user'), conflict: emailTaken, backpressure: tooManyPasswords },
      handle: (call, services) => patchUserFor(services, call),
    }),
    endpoint('DELETE /users/:id', {
      access: { within: 'user', least: 'Admin', recent: true },
      operationId: 'deleteUser',
      summary: 'Delete a user',
      description:
        'Requires an Admin who is in all teams of the user. Each of these teams must have another Admin.',
      answers: { 204: done('The user is deleted, and their tokens are refused.') },
      refuses: { conflict: self },
      async handle({ directory, caller, callerIn, user }) {
        if (user.id === caller.id) throw new ApiError('conflict', self);
        const managed = directory.under({
          check: (draft) => checkManagesAllOf(callerIn(draft), draft.users.get(user.id) ?? user),
        });
        await deleteUser(managed, user.id);
        return noContent;
      },
    }),
  ],
};

/** Makes a user without a password, and a link with which they choose one. */
async function invite(
  services: Services,
  directory: Directory,
  wanted: Omit<NewUserRecord, 'passwordHash'>,
  caller: Caller,
) {
  const { clock, randomBytes } = directory;
  const sources = { randomBytes, now: clock.now(), lifetimes: services.lifetimes };
  const link = newLink('invitation', noPasswordHash, sources);
  const { invitation } = link;
  const user = await createUser(directory, { ...wanted, passwordHash: noPasswordHash, invitation });
  return created(['users', user.id], { ...showUser(user, caller), invitation: showNewLink(services, link) });
}

/** @throws {ApiError} `not_found`, `not_in_team`, `forbidden` */
function checkManagesTeams(accounts: Accounts, caller: Caller, teams: readonly string[]): void {
  for (const team of teams) checkManages('team', accounts, team, caller);
}
