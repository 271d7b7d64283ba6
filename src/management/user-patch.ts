import { mustExist } from '../accounts/checks.ts';
import { hasPassword } from '../accounts/passwords.ts';
import { checkPassword, checkUserPatch, draftUserPatch, primaryTeamNotOwn } from '../accounts/users.ts';
import { endSessionsOf } from '../auth/oauth/sessions.ts';
import { ApiError } from '../contract/errors.ts';
import { roleIn } from '../contract/roles.ts';
import { pick } from '../contract/shapes/fields.ts';
import type { User, UserPatch } from '../contract/shapes/user.ts';
import type { Answer } from '../http/answer.ts';
import type { User as StoredUser } from '../storage/lmdb/records.ts';
import { checkMatch, tagged } from './answers.ts';
import type { Caller } from './caller.ts';
import type { Call } from './endpoint.ts';
import type { Services } from './services.ts';
import { showUser } from './show-user.ts';

type Patch = UserPatch;
type Changes = Omit<Patch, 'currentPassword'>;
type PatchCall = Call<'/users/:id', 'user', Record<never, never>, typeof UserPatch>;

/**
 * Changes the given fields. All users may change their own name, primary team and, with their current password, password.
 * Admins may also change their own e-mail address and the name of others. To change other fields of others, they must be in
 * all of their teams. A new password signs the user out everywhere.
 */
export async function patchUserFor(
  services: Services,
  { directory, caller, callerIn, checkRecent, user: seen, request, body: patch }: PatchCall,
): Promise<Answer<200, User, 'etag'>> {
  const known = mustExist('user', directory.users.get(seen.id));
  checkFirst({ directory, caller, user: known, request }, patch);
  if (known.id !== caller.id && fieldsChanged(known, patch).some((field) => guarded.has(field)))
    checkRecent();
  const proof = await proofOf(services, { caller, user: seen, request }, patch);
  const { password } = patch;
  const hash =
    password === undefined
      ? undefined
      : await services.passwords.hash(password, directory.randomBytes, caller.id);
  const { patched, changer } = await directory.change((draft) => {
    const changer = callerIn(draft);
    const user = mustExist('user', draft.users.get(seen.id));
    const { password: _, ...changes } = changesFor(changer, user, patch);
    if (needsProof(changer, user, patch) && proof !== user.passwordHash) {
      throw new ApiError(
        'conflict',
        'The user was changed concurrently. Read the user again, then apply your change',
      );
    }
    checkMatch(request, showUser(user, changer));
    if (hash !== undefined) endSessionsOf(directory, draft, user.id);
    const full = hash === undefined ? changes : { ...changes, passwordHash: hash };
    return {
      patched: draftUserPatch(draft, user, full, directory.clock.now(), { factors: ['password'] }),
      changer,
    };
  });
  return tagged(showUser(patched, changer));
}

/** The fields of a patch that differ from the user. @throws {ApiError} `forbidden`, `invalid_body` */
function changesFor(caller: Caller, user: StoredUser, { currentPassword: _, ...patch }: Patch): Changes {
  const changed = fieldsChanged(user, patch);
  if (user.id === caller.id) checkOwn(user, changed);
  else if (changed.includes('password')) throw new ApiError('forbidden', ofAnother);
  else if (changed.some((field) => guarded.has(field))) checkManagesAllOf(caller, user);
  if (patch.primaryTeam !== undefined && !caller.teams.includes(patch.primaryTeam)) {
    throw new ApiError('invalid_body', primaryTeamNotOwn);
  }
  return pick(patch, changed);
}

const ofAnother =
  'Only the user can choose their password: make a link for them with POST /api/v2/users/{id}/reset-link';

function fieldsChanged(user: StoredUser, { currentPassword: _, ...patch }: Patch): (keyof Changes)[] {
  const known = { ...user, password: undefined };
  const fields = Object.keys(patch) as (keyof Changes)[];
  return fields.filter((field) => patch[field] !== known[field]);
}

/**
 * The fields that control sign-in, permissions and the ownership of new resources, also in teams that the caller is not in.
 */
const guarded: ReadonlySet<keyof Changes> = new Set(['email', 'role', 'primaryTeam']);

export const ownRole = 'Only another Admin can change your role';

/** @throws {ApiError} `forbidden` */
function checkOwn(user: StoredUser, changed: readonly (keyof Changes)[]): void {
  if (changed.includes('role')) throw new ApiError('forbidden', ownRole);
  const isAdmin = user.teams.every((team) => roleIn(user, team) === 'Admin');
  if (changed.includes('email') && !isAdmin) {
    throw new ApiError('forbidden', 'Only an Admin can change your e-mail address');
  }
}

/** @throws {ApiError} `forbidden` */
export function checkManagesAllOf(caller: Caller, { teams }: StoredUser): void {
  if (teams.every((team) => caller.roleIn(team) === 'Admin')) return;
  throw new ApiError(
    'forbidden',
    'The user is also in other teams. This requires an Admin who is in all of them',
  );
}

/**
 * Checks that a caller may change how a user signs in: that of another user as an Admin of all of their teams, and their own with a
 * client that acts in all of them.
 * @throws {ApiError} `forbidden`
 */
export function checkManagesSignIn(caller: Caller, user: StoredUser): void {
  if (user.id !== caller.id) checkManagesAllOf(caller, user);
  else if (user.teams.some((team) => !caller.teams.includes(team)))
    throw new ApiError('forbidden', withTeamClient);
}

const withTeamClient =
  'You are also in other teams. A sign-in client of one team cannot change how you sign in';

/** Whether the change needs the current password, so that a stolen token does not suffice to take over the account. */
function needsProof(caller: Caller, user: StoredUser, { email = user.email, password }: Patch): boolean {
  return user.id === caller.id && (password !== undefined || email !== user.email);
}

const withoutOne = 'You have no password to confirm this with: ask an Admin for a reset link';

/** Checks the change before the password is hashed, which takes long. Throws as the change does. */
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
 * Checks the current password if the change needs it. @returns the matching hash
 * @throws {ApiError} `forbidden`, `invalid_body`, `rate_limited`, `backpressure`
 */
async function proofOf(
  { provePassword }: Services,
  { caller, user, request }: Pick<PatchCall, 'caller' | 'user' | 'request'>,
  patch: Patch,
): Promise<string | undefined> {
  if (!needsProof(caller, user, patch)) return undefined;
  if (!hasPassword(user)) throw new ApiError('forbidden', withoutOne);
  const { currentPassword } = patch;
  if (currentPassword === undefined) {
    throw new ApiError('invalid_body', 'Field currentPassword must be your current password');
  }
  if (await provePassword(user, currentPassword, request.remoteAddress)) return user.passwordHash;
  throw new ApiError('forbidden', 'currentPassword is not your password');
}
