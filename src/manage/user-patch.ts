import Type, { type Static } from 'typebox';
import type { AccountDraft } from '../accounts/account-draft.ts';
import { mustExist } from '../accounts/checks.ts';
import { checkPassword, checkUserPatch, draftUserPatch } from '../accounts/users.ts';
import { ApiError } from '../errors.ts';
import { named } from '../http/openapi/named-schemas.ts';
import type { Reply } from '../http/types.ts';
import type { User } from '../store/records.ts';
import { roleSchema } from './api-keys.ts';
import type { Caller, ManageDeps } from './caller.ts';
import { checkMatch, tagged } from './etag.ts';
import { jsonBody } from './json-body.ts';
import type { UserCall } from './route.ts';
import { userJson } from './user-json.ts';

/** What the routes of users need of the rest of the service. */
export interface UserDeps extends ManageDeps {
  /** Gives the hash that is kept. It takes long, and must not keep other requests waiting: of one caller only so many wait. */
  hashPassword(password: string, caller: string): Promise<string>;
  /** Whether a password is a user's; `address` is where the request came from. Who guesses is braked: it may refuse. */
  provePassword(user: User, password: string, address: string): Promise<boolean>;
  /** Drafts that a user is signed out everywhere. */
  endSessions(draft: AccountDraft, userId: string): void;
}

/** An e-mail address in a body. */
export const emailSchema = Type.String({
  description: 'The user signs in with it.',
  documented: { format: 'email' },
});

/** A password in a body. */
export const passwordSchema = Type.String({
  description: '8 characters at least, and 1024 bytes at most.',
  documented: { format: 'password', minLength: 8, maxLength: 1024 },
});

/** The body of `PATCH /users/{id}`. */
export const userPatchSchema = Type.Partial(
  Type.Object({
    email: emailSchema,
    name: Type.String(named),
    role: roleSchema,
    primaryTeam: Type.String({ description: 'Id of one of the teams of the user.' }),
    password: passwordSchema,
    currentPassword: Type.String({
      description: 'Your password as it is now: it takes that to change your password or e-mail address.',
      documented: { format: 'password' },
    }),
  }),
  { additionalProperties: false },
);

type Patch = Static<typeof userPatchSchema>;
type Changes = Omit<Patch, 'currentPassword'>;

const readPatch = jsonBody(userPatchSchema);

/**
 * Changes what is given of a user; a new password signs them out everywhere. All users change their own name, primary team
 * and, with the current password, password; an Admin their own e-mail address, too. An Admin changes the name of others,
 * and the rest only as an Admin of all of their teams.
 */
export async function patchUserFor(
  parts: UserDeps,
  { directory, caller, callerIn, user: seen, request }: UserCall,
): Promise<Reply> {
  const patch = await readPatch(request);
  checkFirst({ directory, caller, user: mustExist('user', directory.users.get(seen.id)), request }, patch);
  const proof = await proofOf(parts, { caller, user: seen, request }, patch);
  const { password } = patch;
  const hash = password === undefined ? undefined : await parts.hashPassword(password, caller.id);
  const { patched, changer } = await directory.change((draft) => {
    const changer = callerIn(draft);
    const user = mustExist('user', draft.users.get(seen.id));
    const { password: _, ...changes } = changesFor(changer, user, patch);
    if (needsProof(changer, user, patch) && proof !== user.passwordHash) {
      throw new ApiError('conflict', 'The user was changed meanwhile: read him again, then make your change');
    }
    checkMatch(request, userJson(user, changer));
    if (hash !== undefined) parts.endSessions(draft, user.id);
    const full = hash === undefined ? changes : { ...changes, passwordHash: hash };
    return { patched: draftUserPatch(draft, user, full, directory.clock.now()), changer };
  });
  return tagged(userJson(patched, changer));
}

/** What a patch changes of a user: who sends all of him back changes nothing by it. @throws {ApiError} `forbidden`, `invalid_body` */
function changesFor(caller: Caller, user: User, { currentPassword: _, ...patch }: Patch): Changes {
  const known = { ...user, password: undefined };
  const fields = Object.keys(patch) as (keyof Changes)[];
  const changed = fields.filter((field) => patch[field] !== known[field]);
  if (user.id === caller.id) checkOwn(caller, changed);
  else if (changed.some((field) => guarded.has(field))) checkManagesAllOf(caller, user);
  if (patch.primaryTeam !== undefined && !caller.teams.includes(patch.primaryTeam)) {
    throw new ApiError('invalid_body', 'Cannot take primaryTeam: must be one of the teams of the user');
  }
  return Object.fromEntries(changed.map((field) => [field, patch[field]]));
}

/**
 * The fields that decide how the user signs in, what they may do, and which team owns what they make: in teams that the
 * caller does not administer, too.
 */
const guarded: ReadonlySet<keyof Changes> = new Set(['email', 'role', 'primaryTeam', 'password']);

/** @throws {ApiError} `forbidden` */
function checkOwn(caller: Caller, changed: readonly (keyof Changes)[]): void {
  if (changed.includes('role')) throw new ApiError('forbidden', 'Another Admin changes your role');
  if (changed.includes('email') && caller.role !== 'Admin') {
    throw new ApiError('forbidden', 'An Admin changes your e-mail address');
  }
}

/** @throws {ApiError} `forbidden` */
export function checkManagesAllOf(caller: Caller, { teams }: User): void {
  if (teams.every((team) => caller.teams.includes(team))) return;
  throw new ApiError(
    'forbidden',
    'The user is in other teams too, so this takes an Admin who is in all of them',
  );
}

/** Who holds a token of somebody else is not to make an account of it. */
function needsProof(caller: Caller, user: User, { email = user.email, password }: Patch): boolean {
  return user.id === caller.id && (password !== undefined || email !== user.email);
}

/** Refuses what can be refused before a password is hashed, which takes long. Throws as the change itself. */
function checkFirst(
  { directory, caller, user, request }: Pick<UserCall, 'directory' | 'caller' | 'user' | 'request'>,
  patch: Patch,
): void {
  const { password, ...changes } = changesFor(caller, user, patch);
  if (password !== undefined) checkPassword(password);
  checkUserPatch(directory, user, changes);
  checkMatch(request, userJson(user, caller));
}

/**
 * Where it takes the user's current password, gives the hash that it belongs to.
 * @throws {ApiError} `forbidden`, `invalid_body`, `rate_limited`, `backpressure`
 */
async function proofOf(
  { provePassword }: UserDeps,
  { caller, user, request }: Pick<UserCall, 'caller' | 'user' | 'request'>,
  patch: Patch,
): Promise<string | undefined> {
  if (!needsProof(caller, user, patch)) return undefined;
  const { currentPassword } = patch;
  if (currentPassword === undefined) {
    throw new ApiError('invalid_body', 'Field currentPassword must be your password as it is now');
  }
  if (await provePassword(user, currentPassword, request.remoteAddress)) return user.passwordHash;
  throw new ApiError('forbidden', 'currentPassword is not your password');
}
