import { type ProviderRefusalCode, providerRefusals } from '../../contract/provider-refusals.ts';
import type { ProviderCheck } from '../../contract/shapes/identity-provider.ts';
import type { IdentityProvider } from '../../storage/lmdb/auth-records.ts';
import { type IssuerMetadata, type Issuers, tokenAlgorithms } from './issuers.ts';
import { ProviderRefusal } from './provider-refusal.ts';

/** Reads what a provider publishes, from itself and not from memory. */
export async function checkProvider(
  issuers: Issuers,
  { issuer }: Pick<IdentityProvider, 'issuer'>,
): Promise<ProviderCheck> {
  issuers.forget(issuer);
  let metadata: IssuerMetadata | undefined;
  try {
    metadata = await issuers.metadata(issuer);
    const { keys } = await issuers.keys(issuer);
    const usable = keys.filter(
      ({ kty, use = 'sig' }) => ['RSA', 'EC', 'OKP'].includes(kty ?? '') && use === 'sig',
    );
    const announced = metadata.id_token_signing_alg_values_supported ?? ['RS256'];
    const isSigned = usable.length > 0 && announced.some((algorithm) => tokenAlgorithms.includes(algorithm));
    return found(metadata, usable.length, isSigned ? null : 'signature_invalid');
  } catch (error) {
    if (error instanceof ProviderRefusal) return found(metadata, 0, error.code);
    throw error;
  }
}

function found(
  metadata: IssuerMetadata | undefined,
  keys: number,
  reason: ProviderRefusalCode | null,
): ProviderCheck {
  return {
    reason,
    detail: reason === null ? null : providerRefusals[reason],
    endpoints: {
      authorization: metadata?.authorization_endpoint ?? null,
      token: metadata?.token_endpoint ?? null,
      userinfo: metadata?.userinfo_endpoint ?? null,
      endSession: metadata?.end_session_endpoint ?? null,
    },
    keys,
    backchannelLogout: metadata?.backchannel_logout_supported ?? false,
  };
}
