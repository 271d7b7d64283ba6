import type { ClientServices } from '../oauth/forms.ts';
import type { Issuers } from './issuers.ts';
import type { ProviderClient } from './provider-client.ts';
import type { Providers } from './providers.ts';

/** Services of sign-in and sign-out with identity providers. */
export interface SsoServices extends ClientServices {
  readonly providers: Providers;
  readonly providerClient: ProviderClient;
  readonly issuers: Issuers;
}
