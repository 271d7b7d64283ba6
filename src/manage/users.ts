import Type from 'typebox';
import { mustExist } from '../accounts/checks.ts';
import { newPassword } from '../accounts/passwords.ts';
import { checkNewUser, checkPassword, createUser, deleteUser } from '../accounts/users.ts';
import { ApiError } from '../errors.ts';
import { named } from '../http/openapi/named-schemas.ts';
import type { Reply, Route } from '../http/types.ts';
import { created, deleted, ok } from './answers.ts';
import { roleSchema } from './api-keys.ts';
import type { Caller } from './caller.ts';
import { checked } from './checked.ts';
import { tagged } from './etag.ts';
import { jsonBody } from './json-body.ts';
import { pageOf } from './lists.ts';
import { type Call, route, type UserCall } from './route.ts';
import { apiKeyAsUser, userJson } from './user-json.ts';
import { checkManagesAllOf, emailSchema, passwordSchema, patchUserFor, type UserDeps } from './user-patch.ts';

/** The body of `POST /users`. */
export const newUserSchema = Type.Object(
  {
    email: emailSchema,
    name: Type.String(named),
    role: Type.Optional(roleSchema),
    teams: Type.Optional(
      Type.Array(Type.String(), { description: 'Ids of teams of yours; your primary team when left out.' }),
    ),
    password: Type.Optional(passwordSchema),
  },
  { additionalProperties: false },
);

const readNewUser = jsonBody(newUserSchema);

/** `/api/v2/users` and what is below. */
export function userRoutes(parts: UserDeps): readonly Route[] {
  return [
    route(parts, 'GET /users', list),
    route(parts, 'POST /users', (call) => create(parts, call)),
    route(parts, 'GET /users/me', me),
    route(parts, 'GET /users/:id', ({ caller, user }) => tagged(userJson(user, caller))),
    route(parts, 'PATCH /users/:id', (call) => patchUserFor(parts, call)),
    route(parts, 'DELETE /users/:id', remove),
  ];
}

function list({ directory, caller, request }: Call): Reply {
  const own = new Set(caller.teams);
  const visible = [...directory.users.values()].filter(({ teams }) => teams.some((team) => own.has(team)));
  const { items, nextCursor } = pageOf(visible, request.query, ({ number }) => number);
  return ok({ items: items.map((user) => userJson(user, caller)), nextCursor });
}

/** Whom the token stands for. */
function me({ directory, caller }: Call): Reply {
  const user = directory.users.get(caller.id);
  if (user !== undefined) return tagged(userJson(user, caller));
  return ok(apiKeyAsUser(mustExist('user', directory.apiKeys.get(caller.id))));
}

async function create(parts: UserDeps, { directory, caller, callerIn, request }: Call): Promise<Reply> {
  const { password, teams = [caller.primaryTeam], ...rest } = await readNewUser(request);
  const chosen = password ?? newPassword(directory.randomBytes);
  const wanted = { role: 'User' as const, ...rest, teams };
  checkPassword(chosen);
  checkOwnTeams(caller, teams);
  checkNewUser(directory, wanted); // A hash takes long: first whatever can be refused.
  const passwordHash = await parts.hashPassword(chosen, caller.id);
  const own = checked(directory, (draft) => checkOwnTeams(callerIn(draft), teams));
  const user = await createUser(own, { ...wanted, passwordHash });
  const json = userJson(user, caller);
  return created(['users', user.id], password === undefined ? { ...json, password: chosen } : json);
}

/** @throws {ApiError} `not_found` */
function checkOwnTeams(caller: Caller, teams: readonly string[]): void {
  if (teams.every((team) => caller.teams.includes(team))) return;
  throw new ApiError('not_found', 'There is no such team');
}

async function remove({ directory, caller, callerIn, user }: UserCall): Promise<Reply> {
  if (user.id === caller.id) throw new ApiError('conflict', 'You cannot delete yourself; another Admin can');
  const managed = checked(directory, (draft) =>
    checkManagesAllOf(callerIn(draft), draft.users.get(user.id) ?? user),
  );
  await deleteUser(managed, user.id);
  return deleted;
}
