import { changesDirection } from '../../contract/escaping.ts';
import { isEmail, isName } from '../../contract/names.ts';
import type { ClaimRule, IdentityProvider } from '../../storage/lmdb/auth-records.ts';
import type { Claims, ProviderAnswer } from './provider-client.ts';
import { ProviderRefusal } from './provider-refusal.ts';

/** What a provider says about a user, checked. */
export interface ProviderIdentity {
  readonly subject: string;
  /** `null` if missing or not an e-mail address. */
  readonly email: string | null;
  /** Whether the provider confirms the address; `undefined` if it does not say. */
  readonly emailVerified: boolean | undefined;
  /** `null` if missing or not a name. */
  readonly name: string | null;
  /** The session at the provider. */
  readonly sid: string | null;
  /** When the user signed in there, seconds; `null` if the provider does not say. */
  readonly authTime: number | null;
  /** Whether a rule applies. */
  readonly matches: (rule: ClaimRule) => boolean;
}

/** Maximum length of an identifier (OpenID Connect Core §2: a `sub` has at most 255). */
const longestId = 255;
const longestEmail = 320;
/** Maximum length of all claims, characters of JSON. */
const longestClaims = 65_536;

/**
 * Reads the claims of an answer, and those of the UserInfo endpoint if some are missing.
 * @throws {ProviderRefusal} `id_token_invalid`, `claims_invalid`, `provider_unreachable`
 */
export async function readIdentity(
  provider: Pick<IdentityProvider, 'linkByEmail' | 'createUsers' | 'claimRules'>,
  { claims, userInfo }: Pick<ProviderAnswer, 'claims' | 'userInfo'>,
): Promise<ProviderIdentity> {
  const token = claims as Claims;
  const needsEmail = (provider.linkByEmail || provider.createUsers) && !Object.hasOwn(token, 'email');
  const needsClaim = provider.claimRules.some(({ claim }) => claimIn(token, claim) === undefined);
  const more = (needsEmail || needsClaim) && userInfo !== undefined ? await userInfo() : {};
  if (JSON.stringify([token, more]).length > longestClaims) throw new ProviderRefusal('claims_invalid');
  if (claims.sub === '' || claims.sub.length > longestId) throw new ProviderRefusal('id_token_invalid');
  // Whether an address is verified is said where the address is.
  const ofEmail = Object.hasOwn(token, 'email') ? token : more;
  return {
    subject: claims.sub,
    email: emailIn(ofEmail),
    emailVerified: Object.hasOwn(ofEmail, 'email_verified') ? ofEmail['email_verified'] === true : undefined,
    name: nameIn(token) ?? nameIn(more),
    sid: textIn(token, 'sid', longestId),
    authTime: typeof claims.auth_time === 'number' ? Math.floor(claims.auth_time) : null,
    matches: ({ claim, value }) => has(claimIn(token, claim) ?? claimIn(more, claim), value),
  };
}

/** A claim by its name, or by the names on its path: `realm_access.roles`. */
function claimIn(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  return name.split('.').reduce<unknown>((object, key) => {
    const isObject = typeof object === 'object' && object !== null;
    return isObject && Object.hasOwn(object, key) ? (object as Claims)[key] : undefined;
  }, claims);
}

/** Whether a claim is a value, or a list with it. */
function has(claim: unknown, value: string): boolean {
  const values: readonly unknown[] = Array.isArray(claim) ? claim : [claim];
  return values.some((one) => ['string', 'number', 'boolean'].includes(typeof one) && String(one) === value);
}

function textIn(claims: Claims, name: string, longest: number): string | null {
  const value = Object.hasOwn(claims, name) ? claims[name] : undefined;
  return typeof value === 'string' && value !== '' && value.length <= longest ? value : null;
}

function emailIn(claims: Claims): string | null {
  const email = textIn(claims, 'email', longestEmail);
  return email !== null && isEmail(email) ? email : null;
}

function nameIn(claims: Claims): string | null {
  const parts = [textIn(claims, 'given_name', 100), textIn(claims, 'family_name', 100)];
  const name = textIn(claims, 'name', 200) ?? parts.filter((part) => part !== null).join(' ');
  return isName(name) && !changesDirection(name) ? name : null;
}
