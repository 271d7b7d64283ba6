import type { ThrottleDeps } from '../factors/login-throttle.ts';
import type { RequestChecks } from '../oauth/authorization-request.ts';
import type { MacKeys } from '../oauth/mac.ts';
import type { SessionDeps } from '../oauth/sessions.ts';
import type { SignInDeps } from '../oauth/sign-ins.ts';
import type { Issuers } from './issuers.ts';
import type { ProviderClient } from './provider-client.ts';
import type { Providers } from './providers.ts';

/** The dependencies of signing in with providers. */
export interface SsoSettings extends SessionDeps, SignInDeps, ThrottleDeps, RequestChecks {
  /** The public URL of the auth host. */
  readonly issuer: string;
  readonly keys: MacKeys;
  readonly directory: SessionDeps['directory'];
  readonly accountStore: SessionDeps['accountStore'];
  readonly providers: Providers;
  readonly providerClient: ProviderClient;
  readonly issuers: Issuers;
}
