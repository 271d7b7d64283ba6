import type { Role } from '../../contract/roles.ts';
import type { Factor } from '../../contract/sign-in.ts';

/**
 * The records of sign-in and OAuth. Times are Unix milliseconds unless noted as seconds. Secrets are stored as SHA-256
 * hashes (hex).
 */

/** The proof of a sign-in. */
export interface Authentication {
  /** The factors in the order in which the user proved them. */
  readonly factors: readonly Factor[];
  /** Present if an identity provider proved the sign-in. */
  readonly provider?: ProviderSession;
  /** `User-Agent` of the browser, at most 256 characters. */
  readonly userAgent: string;
}

/** The session at the identity provider from which a sign-in came. */
interface ProviderSession {
  readonly id: string;
  readonly issuer: string;
  /** The `sub` of the user at the provider. */
  readonly subject: string;
  /** The `sid` of the session at the provider; `null` if the provider sent no `sid`. */
  readonly sid: string | null;
  /** The token is needed for the sign-out at the provider. */
  readonly idToken?: string;
  /** Present if the sign-in counts as one factor; otherwise it counts as two. */
  readonly isOneFactor?: true;
}

interface FromSignIn {
  /** Absent from records of an earlier release, which had only sign-ins with a password. */
  readonly authentication?: Authentication;
}

/**
 * A client's session from one sign-in. A session has a chain of refresh tokens, of which the last is valid, and the
 * last access token.
 */
export interface Session extends FromSignIn {
  readonly userId: string;
  readonly clientId: string;
  /** The key of the browser's sign-in that created the session. The sign-in can have ended. */
  readonly signIn: string;
  readonly scope: string;
  /** Time of the user's sign-in, seconds. */
  readonly authTime: number;
  /** Start of the session's lifetime. */
  readonly createdAt: number;
  /** Hash of the valid refresh token. All other refresh tokens of the session were used before. */
  readonly refreshHash: string;
  readonly refreshedAt: number;
  /** The last access token of the session. `exp` is in seconds. */
  readonly access: { readonly jti: string; readonly exp: number };
}

/** An authorization code (RFC 6749 §4.1.2). */
export interface AuthorizationCode extends FromSignIn {
  readonly clientId: string;
  readonly redirectUri: string;
  /** The PKCE challenge, S256 (RFC 7636 §4.2). */
  readonly challenge: string;
  readonly userId: string;
  /** The key of the browser's sign-in. */
  readonly signIn: string;
  readonly scope: string;
  readonly nonce: string | null;
  /** Time of the user's sign-in, seconds. */
  readonly authTime: number;
  readonly expiresAt: number;
  /** The key of the session that the code was exchanged for; `null` before the exchange. */
  readonly session: string | null;
}

/** A user's grant to a device. It allows the device to act for the user within a scope. */
export interface Allowance extends FromSignIn {
  readonly userId: string;
  readonly signIn: string;
  /** Time of the user's sign-in, seconds. */
  readonly authTime: number;
  readonly scope: string;
}

/** A device that waits for its user (RFC 8628). */
export interface DeviceCode {
  readonly clientId: string;
  readonly scope: string;
  /** Network address of the device, or of a program on it. */
  readonly address: string;
  /** The network of `address`. */
  readonly network: string;
  /** Hash of the code with which the device polls. */
  readonly codeHash: string;
  readonly expiresAt: number;
  /** `null` until the user has decided. */
  readonly decision: Allowance | 'denied' | null;
}

export interface SignIn extends FromSignIn {
  readonly userId: string;
  /** SHA-256 (hex) of the user's password hash at the sign-in. A new password ends the sign-in. */
  readonly passwordId: string;
  /** Time when the user signed in, seconds. With an identity provider, this can be an earlier time. */
  readonly authTime: number;
  /** Time when the browser signed in to this service. Absent from earlier records, which use `authTime`. */
  readonly startedAt?: number;
  readonly lastSeenAt: number;
  readonly expiresAt: number;
}

/** A passkey: the credential record of WebAuthn (§4). Bytes are base64url. */
export interface Passkey {
  readonly userId: string;
  readonly credentialId: string;
  /** The public key as a COSE key (RFC 9052 §7). */
  readonly publicKey: string;
  /** The signature counter, 0 if the authenticator does not count. */
  readonly counter: number;
  readonly transports: readonly string[];
  /** The model of the authenticator. */
  readonly aaguid: string;
  readonly backedUp: boolean;
  readonly name: string;
  readonly createdAt: number;
  /** Time of the last sign-in with the passkey; `null` before the first sign-in. */
  readonly lastUsedAt: number | null;
  /** The challenges that the passkey has answered, until they expire: a challenge can be answered only once. */
  readonly answered: readonly { readonly challenge: string; readonly expiresAt: number }[];
}

/** The authenticator app of a user (RFC 6238), confirmed with a code, and the recovery codes. */
export interface Totp {
  readonly userId: string;
  /** The secret of the authenticator app in Base32 (RFC 4648 §6). */
  readonly secret: string;
  readonly createdAt: number;
  /** The time step of the last accepted code. Codes of this and earlier steps are not accepted again. */
  readonly lastStep: number;
  readonly lastUsedAt: number;
  /** Hashes of the unused recovery codes. Each code is hashed without its separators. */
  readonly recoveryCodes: readonly string[];
}

/** The failed sign-ins of an account, or from a network address. */
export interface LoginFailures {
  readonly failures: number;
  readonly lastAt: number;
}

/** The algorithms for signing tokens (RFC 7518 §3.1, RFC 8037 §3.1). */
export type SigningAlgorithm = 'ES256' | 'RS256' | 'EdDSA';

/** A key pair as JWK (RFC 7517). */
export type Jwk = Readonly<Record<string, unknown>>;

/** A public key that a client has registered, and the only algorithm for which it is used. */
export interface PublicKey {
  /** The id from the client, or the thumbprint (RFC 7638). */
  readonly kid: string;
  readonly alg: SigningAlgorithm;
  /** The public members of the key only. */
  readonly publicJwk: Jwk;
}

/** Trust in the tokens of workloads, such as CI jobs, which an API key accepts in place of a secret. */
export interface Trust {
  /** Compared exactly with the claim `iss`. */
  readonly issuer: string;
  /** An audience that the tokens must have. */
  readonly audience: string;
  /** A pattern for the subject of the tokens: see `accounts/trusts.ts`. */
  readonly subject: string;
  /** Further claims of the tokens, each with its required value. */
  readonly claims?: readonly (readonly [name: string, value: string])[];
  /** Static keys of an unreachable issuer. Absent if its keys are fetched. */
  readonly publicKeys?: readonly PublicKey[];
}

interface KeyRecord {
  /** Thumbprint of the public key (RFC 7638). */
  readonly kid: string;
  readonly alg: SigningAlgorithm;
  readonly createdAt: number;
  /** True until the service, which alone writes the audit log, has recorded the rotation of the key. */
  readonly unaudited?: true;
}

export interface SigningKey extends KeyRecord {
  readonly privateJwk: Jwk;
}

/** A replaced key. The private key is deleted. The public key is kept while tokens that it verifies can be valid. */
export interface RetiredKey extends KeyRecord {
  readonly publicJwk: Jwk;
  readonly retiredAt: number;
}

/** A service with which users sign in (OpenID Connect Core 1.0). */
export interface IdentityProvider {
  readonly id: string;
  readonly number: number;
  /** The text of the button that signs in with this provider. */
  readonly name: string;
  /** The issuer is compared exactly. */
  readonly issuer: string;
  readonly clientId: string;
  /** Encrypted in PostgreSQL; `null` for a public client. */
  readonly clientSecret: string | null;
  readonly scopes: readonly string[];
  /** True if a first sign-in with a verified e-mail address is linked to the existing user with this address. */
  readonly linkByEmail: boolean;
  /** True if unknown users are created. */
  readonly createUsers: boolean;
  /** The team of created users, in addition to the teams that the rules assign; `null` without such a team. */
  readonly defaultTeam: string | null;
  readonly defaultRole: Role;
  readonly claimRules: readonly ClaimRule[];
  /** True if a sign-in with the provider counts as two factors. */
  readonly trustsSecondFactor: boolean;
  readonly enabled: boolean;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Gives members of a group a role in a team. A user belongs to the group if the claim is, or contains, the value. */
export interface ClaimRule {
  readonly claim: string;
  readonly value: string;
  readonly team: string;
  readonly role: Role;
}

/** A user's account at an issuer. */
export interface LinkedIdentity {
  readonly id: string;
  readonly number: number;
  readonly userId: string;
  readonly issuer: string;
  readonly subject: string;
  /** The user's e-mail address at the provider at the last sign-in, for people. */
  readonly email: string | null;
  /** The memberships that rules have given, by team. */
  readonly given: Readonly<Record<string, GivenRole>>;
  readonly linkedAt: number;
  readonly lastUsedAt: number;
}

export interface GivenRole {
  readonly role: Role;
  /** The role before a rule applied, which is restored when no rule applies; `null` if the user was not a member. */
  readonly before: Role | null;
}

/**
 * A sign-in with a provider, so that a back-channel logout can end it. The record remains while sessions from the
 * sign-in can exist.
 */
export interface ProviderSignIn {
  readonly userId: string;
  /** The key of the sign-in. */
  readonly signIn: string;
  readonly expiresAt: number;
}
