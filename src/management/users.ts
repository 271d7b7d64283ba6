import type { AccountTransaction } from '../accounts/account-transaction.ts';
import type { Accounts } from '../accounts/accounts.ts';
import { missing, mustExist, nameRule } from '../accounts/checks.ts';
import type { Directory } from '../accounts/directory.ts';
import {
  findInvitation,
  type NewLink,
  newLink,
  noLink,
  purposeFor,
  putLink,
  withdrawLink,
} from '../accounts/invitations.ts';
import { tooManyPasswords } from '../accounts/password-pool.ts';
import { hasPassword, noPasswordHash, temporary, withoutPassword } from '../accounts/passwords.ts';
import { listSecondFactors } from '../accounts/second-factors.ts';
import { describeTierLimit } from '../accounts/tiers.ts';
import {
  applyUserPatch,
  checkNewUser,
  checkPassword,
  checkUserPatch,
  createUser,
  deleteUser,
  emailTaken,
  type NewUser as NewUserRecord,
  primaryTeamNotOwn,
} from '../accounts/users.ts';
import { invitationUrl } from '../auth/browser/invitation-page.ts';
import { endUserSessions } from '../auth/oauth/sessions.ts';
import { Refusal } from '../contract/errors.ts';
import { listTeamRoles, roleIn } from '../contract/roles.ts';
import { pick } from '../contract/shapes/fields.ts';
import {
  InvitationShownOnce,
  type InvitationShownOnce as Issued,
  NewResetLink,
} from '../contract/shapes/invitation.ts';
import { type Member, NewUser, User, UserPatch, UserShownOnce } from '../contract/shapes/user.ts';
import { jsonResponse } from '../http/endpoint.ts';
import { createPage, paging } from '../http/lists.ts';
import { noContent, ok, type TypedResponse } from '../http/responses.ts';
import { timeText } from '../runtime/rfc3339.ts';
import type { ApiKey, User as StoredUser } from '../storage/lmdb/records.ts';
import { type Caller, checkManages, notInTeam } from './access.ts';
import { type Call, endpoint, type Group } from './endpoint.ts';
import { checkMatch, created, done, EntityTagOfUser, made, oneTagged, page, tagged } from './responses.ts';
import type { Services } from './services.ts';

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
      responses: { 200: page(User, 'The oldest user comes first.') },
      handle({ directory, caller, query }) {
        const own = new Set(caller.teams);
        const all = [...directory.users.values()];
        const visible = all.filter(({ teams }) => teams.some((team) => own.has(team)));
        return ok(createPage(visible, query, (user) => showUser(user, caller)));
      },
    }),
    endpoint('POST /users', {
      access: { within: 'service', least: 'Admin', recent: true },
      operationId: 'createUser',
      summary: 'Create a user',
      description:
        'The first team is the primary team of the user. Without `password`, the response has an invitation: a link with which the user chooses a password. A given password must be replaced at the first sign-in.',
      body: NewUser,
      responses: { 201: made(UserShownOnce, 'The user.') },
      refuses: {
        invalid_name: nameRule('a user'),
        not_found: missing('team'),
        not_in_team: notInTeam.team,
        conflict: emailTaken,
        backpressure: tooManyPasswords,
        plan_limit: describeTierLimit('free', 'members'),
      },
      async handle({ directory, caller, callerIn, body }, services) {
        const { password, teams = [caller.primaryTeam], ...rest } = body;
        const wanted = { role: 'User' as const, ...rest, teams };
        if (password !== undefined) checkPassword(password, wanted.email);
        checkManagesTeams(directory, caller, teams);
        checkNewUser(directory, wanted); // The check precedes the slow hash.
        const own = directory.under({ check: (tx) => checkManagesTeams(tx, callerIn(tx), teams) });
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
      description: 'For an API key, the response describes the API key with the fields of a user.',
      responses: { 200: jsonResponse(User, 'The user or API key.', { ETag: EntityTagOfUser }) },
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
      responses: { 200: oneTagged(User, 'The user.') },
      handle: ({ caller, user }) => tagged(showUser(user, caller)),
    }),
    endpoint('PATCH /users/:id', {
      access: { within: 'user', least: 'Admin', orSelf: true, recent: 'partly' },
      operationId: 'changeUser',
      summary: 'Change a user',
      description: `All users may change their own name, primary team and, with \`currentPassword\`, password. Admins may also change their own
e-mail address, with \`currentPassword\`, and the names of other users. Other fields of another user require an Admin in all teams
of the user, and a recent sign-in.
A new password signs the user out everywhere. For another user, \`POST /users/{id}/reset-link\` creates a link with which that user
chooses a password.`,
      body: UserPatch,
      matches: true,
      responses: { 200: oneTagged(User, 'The user after the change.') },
      refuses: { invalid_name: nameRule('a user'), conflict: emailTaken, backpressure: tooManyPasswords },
      handle: (call, services) => patchUserFor(services, call),
    }),
    endpoint('DELETE /users/:id', {
      access: { within: 'user', least: 'Admin', recent: true },
      operationId: 'deleteUser',
      summary: 'Delete a user',
      description: 'Requires an Admin who is in all teams of the user. Each of these teams must have another Admin.',
      responses: { 204: done('The user is deleted, and their tokens are refused.') },
      refuses: { conflict: self },
      async handle({ directory, caller, callerIn, user }) {
        if (user.id === caller.id) throw new Refusal('conflict', self);
        const managed = directory.under({
          check: (tx) => checkManagesAllTeams(callerIn(tx), tx.users.get(user.id) ?? user),
        });
        await deleteUser(managed, user.id);
        return noContent;
      },
    }),
  ],
};

/** Creates a user without a password, and a link with which the user chooses a password. */
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

/** @throws {Refusal} `not_found`, `not_in_team`, `forbidden` */
function checkManagesTeams(accounts: Accounts, caller: Caller, teams: readonly string[]): void {
  for (const team of teams) checkManages('team', accounts, team, caller);
}

type Patch = UserPatch;
type Changes = Omit<Patch, 'currentPassword'>;
type PatchCall = Call<'/users/:id', 'user', Record<never, never>, typeof UserPatch>;

/**
 * Changes the given fields. All users may change their own name and primary team. With their current password, they may
 * also change their password. Admins may also change their own e-mail address and the names of other users. To change
 * other fields of another user, an Admin must be in all teams of the user. A new password signs the user out
 * everywhere.
 */
async function patchUserFor(
  services: Services,
  { directory, caller, callerIn, checkRecent, user: seen, request, body: patch }: PatchCall,
): Promise<TypedResponse<200, User, 'etag'>> {
  const known = mustExist('user', directory.users.get(seen.id));
  checkFirst({ directory, caller, user: known, request }, patch);
  if (known.id !== caller.id && fieldsChanged(known, patch).some((field) => guarded.has(field))) checkRecent();
  const proof = await checkProof(services, { caller, user: seen, request }, patch);
  const { password } = patch;
  const hash =
    password === undefined ? undefined : await services.passwords.hash(password, directory.randomBytes, caller.id);
  const { patched, changer } = await directory.change((tx) => {
    const changer = callerIn(tx);
    const user = mustExist('user', tx.users.get(seen.id));
    const { password: _, ...changes } = changesFor(changer, user, patch);
    if (needsProof(changer, user, patch) && proof !== user.passwordHash) {
      throw new Refusal('conflict', 'The user was changed concurrently. Read the user again, then apply your change');
    }
    checkMatch(request, showUser(user, changer));
    if (hash !== undefined) endUserSessions(directory, tx, user.id);
    const full = hash === undefined ? changes : { ...changes, passwordHash: hash };
    return { patched: applyUserPatch(tx, user, full, directory.clock.now(), { factors: ['password'] }), changer };
  });
  return tagged(showUser(patched, changer));
}

/** Returns the fields of a patch that differ from the user's fields. @throws {Refusal} `forbidden`, `invalid_body` */
function changesFor(caller: Caller, user: StoredUser, { currentPassword: _, ...patch }: Patch): Changes {
  const changed = fieldsChanged(user, patch);
  if (user.id === caller.id) checkOwn(user, changed);
  else if (changed.includes('password')) throw new Refusal('forbidden', ofAnother);
  else if (changed.some((field) => guarded.has(field))) checkManagesAllTeams(caller, user);
  if (patch.primaryTeam !== undefined && !caller.teams.includes(patch.primaryTeam)) {
    throw new Refusal('invalid_body', primaryTeamNotOwn);
  }
  return pick(patch, changed);
}

const ofAnother =
  'Only the user can choose this password: create a link for the user with POST /api/v2/users/{id}/reset-link';

function fieldsChanged(user: StoredUser, { currentPassword: _, ...patch }: Patch): (keyof Changes)[] {
  const known = { ...user, password: undefined };
  const fields = Object.keys(patch) as (keyof Changes)[];
  return fields.filter((field) => patch[field] !== known[field]);
}

/**
 * Fields that control sign-in, permissions and the ownership of new resources, even in teams that the caller is not in.
 */
const guarded: ReadonlySet<keyof Changes> = new Set(['email', 'role', 'primaryTeam']);

export const ownRole = 'Only another Admin can change your role';

/** @throws {Refusal} `forbidden` */
function checkOwn(user: StoredUser, changed: readonly (keyof Changes)[]): void {
  if (changed.includes('role')) throw new Refusal('forbidden', ownRole);
  const isAdmin = user.teams.every((team) => roleIn(user, team) === 'Admin');
  if (changed.includes('email') && !isAdmin) {
    throw new Refusal('forbidden', 'Only an Admin can change your e-mail address');
  }
}

/** @throws {Refusal} `forbidden` */
function checkManagesAllTeams(caller: Caller, { teams }: StoredUser): void {
  if (teams.every((team) => caller.roleIn(team) === 'Admin')) return;
  throw new Refusal('forbidden', 'The user is also in other teams. This requires an Admin who is in all of them');
}

/**
 * Checks that a caller may change how a user signs in. For another user, the caller must be an Admin in all teams of
 * the user. To change their own sign-in, the caller needs a client that may act in all of their teams.
 * @throws {Refusal} `forbidden`
 */
export function checkManagesSignIn(caller: Caller, user: StoredUser): void {
  if (user.id !== caller.id) checkManagesAllTeams(caller, user);
  else if (user.teams.some((team) => !caller.teams.includes(team))) throw new Refusal('forbidden', withTeamClient);
}

const withTeamClient = 'You are also in other teams. A sign-in client of one team cannot change how you sign in';

/** True if a change requires the current password, so that a stolen token cannot take over the account. */
function needsProof(caller: Caller, user: StoredUser, { email = user.email, password }: Patch): boolean {
  return user.id === caller.id && (password !== undefined || email !== user.email);
}

const withoutOne = 'This change requires your current password, but you do not have one: ask an Admin for a reset link';

/** Checks a change before the new password is hashed, because hashing is slow. Throws the same errors as the change. */
function checkFirst(
  { directory, caller, user, request }: Pick<PatchCall, 'directory' | 'caller' | 'user' | 'request'>,
  patch: Patch,
): void {
  const { password, ...changes } = changesFor(caller, user, patch);
  if (password !== undefined) checkPassword(password, changes.email ?? user.email);
  checkUserPatch(directory, user, changes);
  checkMatch(request, showUser(user, caller));
}

/**
 * Checks the current password if the change requires it. @returns the matching hash
 * @throws {Refusal} `forbidden`, `invalid_body`, `rate_limited`, `backpressure`
 */
async function checkProof(
  { provePassword }: Services,
  { caller, user, request }: Pick<PatchCall, 'caller' | 'user' | 'request'>,
  patch: Patch,
): Promise<string | undefined> {
  if (!needsProof(caller, user, patch)) return undefined;
  if (!hasPassword(user)) throw new Refusal('forbidden', withoutOne);
  const { currentPassword } = patch;
  if (currentPassword === undefined) {
    throw new Refusal('invalid_body', 'Field currentPassword must be your current password');
  }
  if (await provePassword(user, currentPassword, request.remoteAddress)) return user.passwordHash;
  throw new Refusal('forbidden', 'currentPassword is not your password');
}

/** Formats a user for a response, without teams that the caller is not in. */
function showUser(user: StoredUser, caller: Caller): User {
  const { id, email, name, role, primaryTeam } = user;
  const teams = user.teams.filter((team) => caller.teams.includes(team));
  return {
    id,
    email,
    name,
    role,
    teams,
    teamRoles: listTeamRoles(user, teams),
    primaryTeam: teams.includes(primaryTeam) ? primaryTeam : null,
    invitation: showInvitation(user),
    createdAt: timeText(user.createdAt),
    updatedAt: timeText(user.updatedAt),
  };
}

/** Formats a member for a response. Only Admins of the team and the user see how the user signs in. */
export function showMember(
  { accountStore }: Pick<Services, 'accountStore'>,
  user: StoredUser,
  caller: Caller,
  teamId: string,
): Member {
  const { id, role, joinedAt, lastSignInAt, createdAt } = user;
  const isShown = id === caller.id || caller.roleIn(teamId) === 'Admin';
  return {
    ...showUser(user, caller),
    role: roleIn(user, teamId) ?? role,
    joinedAt: timeText(joinedAt?.[teamId] ?? createdAt),
    lastSignInAt: timeText((isShown && lastSignInAt) || null),
    secondFactors: isShown ? [...listSecondFactors(accountStore, id)] : null,
  };
}

function showInvitation(user: StoredUser): User['invitation'] {
  const invitation = findInvitation(user);
  if (invitation === undefined) return null;
  return { purpose: invitation.purpose, expiresAt: timeText(invitation.expiresAt) };
}

/** Formats an API key in the shape of a user, without an e-mail address. */
function showAsUser({ clientId, name, role, teamId, createdAt }: ApiKey): User {
  const at = timeText(createdAt);
  const team = { teams: [teamId], teamRoles: { [teamId]: role }, primaryTeam: teamId };
  return { id: clientId, email: null, name, role, ...team, invitation: null, createdAt: at, updatedAt: at };
}

const notOwn = 'You cannot reset your own password; change it, or ask another Admin';

/** `/api/v2/users/{id}/reset-link` */
export const resetLinks: Group = {
  tag: 'Reset links',
  description: 'Links with which invited users accept their invitation, and other users choose a new password.',
  endpoints: [
    endpoint('POST /users/:id/reset-link', {
      access: { within: 'user', least: 'Admin', recent: true },
      operationId: 'createResetLink',
      summary: 'Create a link with which a user chooses a password',
      description: `Requires an Admin who is in all teams of the user. The link replaces the previous link, and is valid once: for a day, or
for \`--invitation-ttl\` if the user has not accepted their invitation. By default, the password and the sessions remain valid until the
link is used. After a leak, \`endSessions\` ends them immediately.`,
      body: NewResetLink,
      responses: { 200: jsonResponse(InvitationShownOnce, 'The link.') },
      refuses: { conflict: notOwn },
      async handle(call, services) {
        const { endSessions = false } = call.body;
        return ok(await changeManaged(call, (tx, user) => issue(services, tx, user, endSessions)));
      },
    }),
    endpoint('DELETE /users/:id/reset-link', {
      access: { within: 'user', least: 'Admin' },
      operationId: 'deleteResetLink',
      summary: 'Withdraw the link of a user',
      description: 'Requires an Admin who is in all teams of the user. Also withdraws an invitation.',
      responses: { 204: done('The link is no longer valid.') },
      refuses: { conflict: notOwn, not_found: noLink },
      async handle(call) {
        await changeManaged(call, (tx, user) => withdrawLink(tx, user, call.directory.clock.now()));
        return noContent;
      },
    }),
  ],
};

/** Changes a user whom the caller manages. @throws {Refusal} `conflict`, `forbidden`, `not_found` */
function changeManaged<T>(
  { directory, caller, callerIn, user: seen }: Pick<Call<'', 'user'>, 'directory' | 'caller' | 'callerIn' | 'user'>,
  change: (tx: AccountTransaction, user: StoredUser) => T,
): Promise<T> {
  if (seen.id === caller.id) throw new Refusal('conflict', notOwn);
  return directory.change((tx) => {
    const user = mustExist('user', tx.users.get(seen.id));
    checkManagesAllTeams(callerIn(tx), user);
    return change(tx, user);
  });
}

function issue(services: Services, tx: AccountTransaction, seen: StoredUser, endSessions: boolean): Issued {
  const { clock, randomBytes } = services.directory;
  const { lifetimes } = services;
  const now = clock.now();
  const purpose = purposeFor(seen);
  const user = endSessions ? applyUserPatch(tx, seen, { passwordHash: withoutPassword(randomBytes) }, now) : seen;
  if (endSessions) endUserSessions(services.directory, tx, user.id);
  const link = newLink(purpose, user.passwordHash, { randomBytes, now, lifetimes });
  putLink(tx, user, link, now);
  return showNewLink(services, link);
}

function showNewLink({ authUrl }: Services, { token, invitation }: NewLink): Issued {
  const { purpose, expiresAt } = invitation;
  return { purpose, expiresAt: timeText(expiresAt), url: invitationUrl(authUrl, token) };
}
