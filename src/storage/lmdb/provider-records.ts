import type { Role } from '../../contract/roles.ts';

/** The records of identity providers. Times are Unix milliseconds. */

/** A service that users sign in with (OpenID Connect Core 1.0). */
export interface IdentityProvider {
  readonly id: string;
  readonly number: number;
  /** The text of its button. */
  readonly name: string;
  /** Compared exactly. */
  readonly issuer: string;
  readonly clientId: string;
  /** `null` for a public client. Encrypted in PostgreSQL. */
  readonly clientSecret: string | null;
  readonly scopes: readonly string[];
  /** Whether a verified e-mail address links a user who has not signed in with it before. */
  readonly linkByEmail: boolean;
  /** Whether an unknown user is created. */
  readonly createUsers: boolean;
  /** The team of created users besides those of the rules, if any. */
  readonly defaultTeam: string | null;
  readonly defaultRole: Role;
  readonly claimRules: readonly ClaimRule[];
  /** Whether its sign-in counts as two factors. */
  readonly trustsSecondFactor: boolean;
  readonly enabled: boolean;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Gives members of a group a role in a team: those whose claim is, or contains, the value. */
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
  /** The provider's e-mail address of the user at the last sign-in, for people. */
  readonly email: string | null;
  /** The memberships that rules gave, by team. */
  readonly given: Readonly<Record<string, GivenRole>>;
  readonly linkedAt: number;
  readonly lastUsedAt: number;
}

export interface GivenRole {
  readonly role: Role;
  /** The role before, which returns when no rule applies; `null` if the user was not a member. */
  readonly before: Role | null;
}

/** A sign-in with a provider, for its back-channel logout. It remains while sessions from the sign-in may. */
export interface ProviderSignIn {
  readonly userId: string;
  /** The key of the sign-in. */
  readonly signIn: string;
  readonly expiresAt: number;
}
