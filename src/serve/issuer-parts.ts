import { version } from '../../package.json' with { type: 'json' };
import type { Directory } from '../accounts/directory.ts';
import { Issuers } from '../auth/sso/issuers.ts';
import { ProviderClient } from '../auth/sso/provider-client.ts';
import { Providers } from '../auth/sso/providers.ts';
import { resolver } from '../http/outbound/addresses.ts';
import { type OutboundFetch, outboundFetch } from '../http/outbound/fetch.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Config } from './config.ts';

/** Time from a name lookup to the end of the response of an issuer, ms. */
const deadlineMs = 5000;

/** Maximum size of a discovery document, a key set and the like. */
const maxBytes = 256 * 1024;

/** The parts that read from issuers: identity providers, and those of workload identity. */
export function issuerParts(
  { issuerAllowPrivate: allowPrivate }: Config,
  clock: Clock,
  directory: Directory,
) {
  const reach = { resolve: resolver(allowPrivate), allowPrivate, allowedBy: '--issuer-allow-private' };
  const fetch: OutboundFetch = outboundFetch({ ...reach, version, deadlineMs, maxBytes });
  const issuers = new Issuers(fetch, clock);
  return {
    /** Fetches from issuers that administrators have entered. */
    fetchFromIssuer: fetch,
    issuers,
    providers: new Providers(directory),
    providerClient: new ProviderClient({ issuers, fetch, clock, allowPrivate }),
  };
}
