import type { Accounts } from '../accounts/accounts.ts';
import { missing, mustExist, nameRule } from '../accounts/checks.ts';
import { tooManyPasswords } from '../accounts/password-pool.ts';
import { newPassword, temporary } from '../accounts/passwords.ts';
import { overPlan } from '../accounts/plans.ts';
import { checkNewUser, checkPassword, createUser, deleteUser, emailTaken } from '../accounts/users.ts';
import { ApiError } from '../contract/errors.ts';
import { NewUser, User, UserPatch, UserShownOnce } from '../contract/shapes/user.ts';
import { noContent, ok } from '../http/answer.ts';
import { type Group, jsonAnswer } from '../http/endpoint.ts';
import { checkManages, notInTeam } from './access.ts';
import { created, done, EntityTagOfUser, made, oneTagged, page, tagged } from './answers.ts';
import type { Caller } from './caller.ts';
import { endpoint } from './endpoint.ts';
import { pageOf, paging } from './lists.ts';
import { showAsUser, showUser } from './show-user.ts';
import { checkManagesAllOf, patchUserFor, type UserDeps } from './user-patch.ts';

const self = 'You cannot delete yourself; another Admin can';

export const users: Group<UserDeps> = {
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
      access: { within: 'service', least: 'Admin' },
      operationId: 'createUser',
      summary: 'Create a user',
      description:
        'The first team is the primary team of the user. Without `password`, one is generated and returned. In both cases the user has to choose another one at the first sign-in.',
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
      async handle({ directory, caller, callerIn, body }, { hashPassword }: UserDeps) {
        const { password, teams = [caller.primaryTeam], ...rest } = body;
        const chosen = password ?? newPassword(directory.randomBytes);
        const wanted = { role: 'User' as const, ...rest, teams };
        checkPassword(chosen, wanted.email);
        checkManagesTeams(directory, caller, teams);
        checkNewUser(directory, wanted); // Before the hash, which takes long.
        const passwordHash = await hashPassword(chosen, caller.id);
        const own = directory.under({ check: (draft) => checkManagesTeams(draft, callerIn(draft), teams) });
        const user = await createUser(own, { ...wanted, passwordHash, ...temporary(passwordHash) });
        const shown = showUser(user, caller);
        return created(['users', user.id], password === undefined ? { ...shown, password: chosen } : shown);
      },
    }),
    endpoint('GET /users/me', {
      access: { within: 'service', least: 'Viewer' },
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
      access: { within: 'user', least: 'Admin', orSelf: true },
      operationId: 'changeUser',
      summary: 'Change a user',
      description: `All users may change their own name, primary team and, with \`currentPassword\`, password. Admins may also change their own
e-mail address, with \`currentPassword\`, and the name of others. Other fields of others require an Admin who is in all of their teams.
A new password signs the user out everywhere. A password set by an Admin has to be replaced at the next sign-in.`,
      body: UserPatch,
      matches: true,
      answers: { 200: oneTagged(User, 'The user after the change.') },
      refuses: { invalid_name: nameRule('a user'), conflict: emailTaken, backpressure: tooManyPasswords },
      handle: (call, deps: UserDeps) => patchUserFor(deps, call),
    }),
    endpoint('DELETE /users/:id', {
      access: { within: 'user', least: 'Admin' },
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

/** @throws {ApiError} `not_found`, `not_in_team`, `forbidden` */
function checkManagesTeams(accounts: Accounts, caller: Caller, teams: readonly string[]): void {
  for (const team of teams) checkManages('team', accounts, team, caller);
}
