import { ApiError } from '../contract/errors.ts';
import { roleIn } from '../contract/roles.ts';
import type { SecondFactorRule } from '../contract/shapes/sign-in-policy.ts';
import type { SignInPolicy, User } from '../storage/lmdb/records.ts';
import { missing } from './checks.ts';
import type { Directory } from './directory.ts';
import type { Reader } from './store/account-store.ts';

/** The key of the only record. */
const key = 'installation';

const usual: SignInPolicy = { secondFactor: 'optional', passwords: 'everyone', breakGlass: [], domains: [] };

/** The policy of the installation. */
export function signInPolicyOf(reader: Pick<Reader, 'get'>): SignInPolicy {
  return { ...usual, ...reader.get('signInPolicy', key) };
}

/**
 * Changes the given fields.
 * @throws {ApiError} `invalid_body` if a user of `breakGlass` does not exist
 */
export function patchSignInPolicy(directory: Directory, patch: Partial<SignInPolicy>): Promise<SignInPolicy> {
  return directory.change((draft) => {
    const before = signInPolicyOf(draft);
    if (Object.keys(patch).length === 0) return before;
    for (const id of patch.breakGlass ?? [])
      if (!draft.users.has(id))
        throw new ApiError('invalid_body', `Cannot take breakGlass: ${missing('user')}`);
    const after = { ...before, ...patch };
    draft.put('signInPolicy', key, after);
    draft.note('sign-in-policy.changed', null, { type: 'sign-in-policy', id: '', name: '' });
    return after;
  });
}

/** From the most lenient. */
const rules: readonly SecondFactorRule[] = ['optional', 'admins', 'all'];

/** Whether the policy of the installation, or of a team of the user, demands a second factor. */
export function demandsSecondFactor(reader: Pick<Reader, 'get'>, user: User): boolean {
  const { secondFactor } = signInPolicyOf(reader);
  return user.teams.some((id) => {
    const own = reader.get('teams', id)?.secondFactor ?? 'optional';
    const rule = rules[Math.max(rules.indexOf(secondFactor), rules.indexOf(own))];
    return rule === 'all' || (rule === 'admins' && roleIn(user, id) === 'Admin');
  });
}
