/*
 * src/auth/sso: identity providers (OpenID Connect Core 1.0). providers.ts lists the providers. issuers.ts reads their
 * published documents. attempt.ts has the cookie of a sign-in in progress. provider-client.ts exchanges the code.
 * claims.ts reads the claims and applies the rules for memberships. enter.ts finds or creates the user.
 */

import type { Accounts } from '../../accounts/accounts.ts';
import { listIdentities } from '../../accounts/identity-providers.ts';
import { requiredProvider } from '../../accounts/sign-in-policy.ts';
import type { Reader } from '../../accounts/store/account-store.ts';
import type { IdentityProvider } from '../../storage/lmdb/auth-records.ts';
import type { User } from '../../storage/lmdb/records.ts';

export interface ConfiguredProviders {
  /** The path of the file; empty without a file. */
  readonly file: string;
  readonly providers: readonly IdentityProvider[];
}

/** The identity providers in the account store and in the file of `--identity-providers`. */
export class Providers {
  readonly #accounts: Pick<Accounts, 'identityProviders'>;
  #configured: ReadonlyMap<string, IdentityProvider> = new Map();
  #file = '';

  constructor(accounts: Pick<Accounts, 'identityProviders'>) {
    this.#accounts = accounts;
  }

  /** Replaces the providers from the file. */
  configure({ file, providers }: ConfiguredProviders): void {
    this.#file = file;
    this.#configured = new Map(providers.map((provider) => [provider.id, provider]));
  }

  /** All providers: first the providers from the file, then the other providers, oldest first. */
  all(): readonly IdentityProvider[] {
    const stored = [...this.#accounts.identityProviders.values()].filter(({ id }) => !this.#configured.has(id));
    return [...this.#configured.values(), ...stored.sort((a, b) => a.number - b.number)];
  }

  /** The providers that users can sign in with. */
  enabled(): readonly IdentityProvider[] {
    return this.all().filter(({ enabled }) => enabled);
  }

  /** The providers at which a user can link an account. A user can link only one account of each issuer. */
  linkable(reader: Pick<Reader, 'get' | 'keys'>, user: Pick<User, 'id' | 'email'>): readonly IdentityProvider[] {
    const required = requiredProvider(reader, user);
    const linked = new Set(listIdentities(reader, user.id).map(({ issuer }) => issuer));
    return this.enabled().filter(
      ({ id, issuer }) => !linked.has(issuer) && (required === undefined || id === required),
    );
  }

  find(id: string): IdentityProvider | undefined {
    return this.#configured.get(id) ?? this.#accounts.identityProviders.get(id);
  }

  ofIssuer(issuer: string): IdentityProvider | undefined {
    return this.all().find((provider) => provider.issuer === issuer);
  }

  isConfigured(id: string): boolean {
    return this.#configured.has(id);
  }

  /** The file that configures a provider; `undefined` if the provider is in the account store. */
  findFile(id: string): string | undefined {
    return this.#configured.has(id) ? this.#file : undefined;
  }
}

/** The URLs to register at a provider. @param authUrl the public URL of the auth host */
export function buildProviderUrls(authUrl: string, { id }: Pick<IdentityProvider, 'id'>) {
  const base = `${authUrl}/connect/providers/${encodeURIComponent(id)}`;
  return {
    redirectUri: `${base}/callback`,
    postLogoutRedirectUri: `${authUrl}/connect/signed-out`,
    backchannelLogoutUri: `${base}/logout`,
  };
}
