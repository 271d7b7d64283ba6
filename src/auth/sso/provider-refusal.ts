import { type ProviderRefusalCode, providerRefusals } from '../../contract/provider-refusals.ts';
import { OutboundError } from '../../http/outbound/fetch.ts';

/** A refused sign-in with an identity provider. It contains no text from the provider. */
export class ProviderRefusal extends Error {
  override readonly name = 'ProviderRefusal';
  readonly code: ProviderRefusalCode;

  constructor(code: ProviderRefusalCode, options?: ErrorOptions) {
    super(providerRefusals[code], options);
    this.code = code;
  }
}

/** Converts the failure of a request to a provider. @throws any other error */
export function unanswered(error: unknown): ProviderRefusal {
  if (!(error instanceof OutboundError)) throw error;
  switch (error.code) {
    case 'private_address':
      return new ProviderRefusal('provider_private_address', { cause: error });
    case 'redirect':
    case 'too_large':
      return new ProviderRefusal('provider_document_invalid', { cause: error });
    default:
      return new ProviderRefusal('provider_unreachable', { cause: error });
  }
}
