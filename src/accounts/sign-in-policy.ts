import { Refusal } from '../contract/errors.ts';
import { roleIn } from '../contract/roles.ts';
import type { SecondFactorRule } from '../contract/shapes/sign-in-policy.ts';
import type { SignInPolicy, User } from '../storage/lmdb/records.ts';
import type { AccountTransaction } from './account-transaction.ts';
import { settingsBetween } from './audit-log.ts';
import type { Directory } from './directory.ts';
import { hasPassword } from './passwords.ts';
import type { Reader } from './store/account-store.ts';
import { isInstallationAdmin } from './teams.ts';

const maxDomains = 100;

const key = 'installation';

const usual: SignInPolicy = { secondFactor: 'optional', passwords: 'everyone', breakGlass: [], domains: [] };

export function readSignInPolicy(reader: Pick<Reader, 'get'>): SignInPolicy {
  return { ...usual, ...reader.get('signInPolicy', key) };
}

const noProviders: ProviderList = { find: () => undefined, enabled: () => [] };

export interface ProviderList {
  find(id: string): unknown;
  enabled(): readonly unknown[];
}

/**
 * Changes the given fields.
 * @throws {Refusal} `invalid_body` if a user of `breakGlass` or a provider does not exist, or no user could sign in
 */
export function patchSignInPolicy(
  directory: Directory,
  patch: Partial<SignInPolicy>,
  providers: ProviderList = noProviders,
): Promise<SignInPolicy> {
  return directory.change((tx) => {
    const before = readSignInPolicy(tx);
    if (Object.keys(patch).length === 0) return before;
    for (const id of patch.breakGlass ?? [])
      if (!tx.users.has(id)) throw new Refusal('invalid_body', '`breakGlass` must list existing users');
    const after = { ...before, ...patch };
    checkPasswords(tx, after, providers);
    checkDomains(after, providers);
    tx.put('signInPolicy', key, after);
    noteChange(tx, before, after);
    return after;
  });
}

/** Checks that providers and passwords allow sign-ins: one provider is enabled, and one listed Admin has a password. */
function checkPasswords(
  tx: AccountTransaction,
  { passwords, breakGlass }: SignInPolicy,
  providers: ProviderList,
): void {
  if (passwords === 'everyone') return;
  if (providers.enabled().length === 0)
    throw new Refusal('invalid_body', '`passwords` must be everyone until an identity provider is enabled');
  const isFit = (user: User | undefined) =>
    user !== undefined && hasPassword(user) && isInstallationAdmin(tx, { roleIn: (team) => roleIn(user, team) });
  if (!breakGlass.some((id) => isFit(tx.users.get(id)))) throw new Refusal('invalid_body', withoutBreakGlass);
}

const withoutBreakGlass =
  '`breakGlass` must list an Admin of the first team with a password, who can sign in while the provider is down';

function checkDomains({ domains }: SignInPolicy, providers: ProviderList): void {
  const isFit = (domain: string) => domain.length <= 253 && /^[^\s@]+$/.test(domain);
  if (domains.length > maxDomains || !domains.every(({ domain }) => isFit(domain)))
    throw new Refusal('invalid_body', `\`domains\` must list at most ${maxDomains} domain names`);
  if (!domains.every(({ providerId }) => providers.find(providerId) !== undefined))
    throw new Refusal('invalid_body', '`domains` must name existing identity providers');
}

/** Returns the rule for the domain of an e-mail address. Subdomains have separate rules. */
export function domainRule({ domains }: SignInPolicy, email: string): SignInPolicy['domains'][number] | undefined {
  const own = email.slice(email.lastIndexOf('@') + 1).toLowerCase();
  return domains.find(({ domain }) => domain.toLowerCase() === own);
}

export function mayUsePassword(reader: Pick<Reader, 'get'>, user: Pick<User, 'id' | 'email'>): boolean {
  const { passwords, breakGlass } = readSignInPolicy(reader);
  if (breakGlass.includes(user.id)) return true;
  return passwords === 'everyone' && requiredProvider(reader, user) === undefined;
}

/** The id of the identity provider that a user must sign in with; `undefined` if the user may choose. */
export function requiredProvider(
  reader: Pick<Reader, 'get'>,
  { id, email }: Pick<User, 'id' | 'email'>,
): string | undefined {
  const policy = readSignInPolicy(reader);
  return policy.breakGlass.includes(id) ? undefined : domainRule(policy, email)?.providerId;
}

/** Allows a user, despite the policy, to sign in with a password that an operator has set. */
export function allowPassword(tx: AccountTransaction, user: User): void {
  if (mayUsePassword(tx, user)) return;
  const before = readSignInPolicy(tx);
  const after = { ...before, breakGlass: [...before.breakGlass, user.id] };
  tx.put('signInPolicy', key, after);
  noteChange(tx, before, after);
}

function noteChange(tx: AccountTransaction, before: SignInPolicy, after: SignInPolicy): void {
  const target = { type: 'sign-in-policy', id: '', name: '' } as const;
  tx.note('sign-in-policy.changed', null, target, settingsBetween('policy', before, after));
}

/** Rules, the most lenient first. */
const rules: readonly SecondFactorRule[] = ['optional', 'admins', 'all'];

/** True if the policy of the installation, or of a team of the user, demands a second factor. */
export function demandsSecondFactor(reader: Pick<Reader, 'get'>, user: User): boolean {
  const { secondFactor } = readSignInPolicy(reader);
  return user.teams.some((id) => {
    const own = reader.get('teams', id)?.secondFactor ?? 'optional';
    const rule = rules[Math.max(rules.indexOf(secondFactor), rules.indexOf(own))];
    return rule === 'all' || (rule === 'admins' && roleIn(user, id) === 'Admin');
  });
}
