import Type from 'typebox';
import type { Directory } from '../../accounts/directory.ts';
import { text } from '../../contract/shapes/fields.ts';
import type { ApiKey } from '../../storage/lmdb/records.ts';
import { type ClientForm, clientForm } from '../clients/client-endpoint.ts';
import { type AuthenticatedClient, checkNotExpired, invalidClient } from '../clients/clients.ts';
import type { Form } from '../clients/form.ts';
import { OAuthError } from '../clients/oauth-error.ts';
import { issueAccessToken, newTokenIdentity } from './access-token.ts';
import { type ClientCredentialsDeps, checkScope, subjectOf } from './grant-client-credentials.ts';
import { type TokenAnswer, tokenAnswer } from './token-answer.ts';
import { verifyWorkload, type WorkloadDeps } from './workload-token.ts';

/** RFC 8693 §2.1. */
export const tokenExchangeGrantType = 'urn:ietf:params:oauth:grant-type:token-exchange';

const accessTokenType = 'urn:ietf:params:oauth:token-type:access_token';
const subjectTokenTypes = [
  'urn:ietf:params:oauth:token-type:jwt',
  'urn:ietf:params:oauth:token-type:id_token',
];

/**
 * Lifetime of an exchanged token, seconds. It does not depend on that of the subject token: those of some platforms last five
 * minutes, less than a job.
 */
export const exchangedTokenLifetime = 900;

export interface TokenExchangeDeps extends ClientCredentialsDeps, WorkloadDeps {
  readonly directory: Pick<Directory, 'apiKeys' | 'clock' | 'markApiKeyUsed'>;
}

/** A parameter of RFC 8693 that is not supported. */
const unsupported = ['actor_token', 'actor_token_type', 'resource', 'audience'];

/** RFC 8693: a workload, such as a CI job, presents a token of its platform in place of a secret. */
export const tokenExchangeGrant: ClientForm<TokenAnswer, TokenExchangeDeps> = {
  ...clientForm({
    by: trustingKeyOf,
    fields: {
      grant_type: Type.Literal(tokenExchangeGrantType),
      subject_token: text('The token of the workload: a JWT of the issuer that the API key trusts.'),
      subject_token_type: text(`${subjectTokenTypes[0]} or ${subjectTokenTypes[1]}.`),
      requested_token_type: Type.Optional(text(`${accessTokenType}, the default.`)),
      scope: Type.Optional(text('`openid` and the scope of this service. Both are required.')),
    },
    async handle({ client, fields }, deps: TokenExchangeDeps) {
      if (!subjectTokenTypes.includes(fields.subject_token_type))
        throw new OAuthError(
          'invalid_request',
          `subject_token_type must be ${subjectTokenTypes.join(' or ')}`,
        );
      if ((fields.requested_token_type ?? accessTokenType) !== accessTokenType)
        throw new OAuthError('invalid_request', `requested_token_type must be ${accessTokenType}`);
      const scope = checkScope(fields.scope, deps.serviceScope);
      const subject = await verifyWorkload(deps, client.trust, fields.subject_token, deps.clock.now());
      deps.directory.markApiKeyUsed(client.clientId, subject);
      const identity = newTokenIdentity(deps, exchangedTokenLifetime);
      const token = await issueAccessToken(deps, subjectOf(client, scope), identity);
      const beside = { expires_in: exchangedTokenLifetime, issued_token_type: accessTokenType };
      return { ...tokenAnswer(token, scope), ...beside };
    },
  }),
  identify,
};

/**
 * The API key with the `client_id` of an exchange. The subject token authenticates it.
 * @throws {OAuthError} `invalid_client`, the same for an unknown key and one without a trust; `invalid_request`
 */
function identify(
  { directory }: Pick<TokenExchangeDeps, 'directory'>,
  authorization: string | undefined,
  form: Form,
): AuthenticatedClient {
  const id = form.get('client_id') ?? '';
  const apiKey = directory.apiKeys.get(id);
  if (authorization !== undefined || apiKey?.trust === undefined)
    throw invalidClient(authorization !== undefined);
  checkNotExpired(apiKey, directory.clock.now());
  const extra = unsupported.find((name) => form.has(name));
  if (extra !== undefined) throw new OAuthError('invalid_request', `${extra} is not supported`);
  return { kind: 'api-key', id, apiKey };
}

function trustingKeyOf(client: AuthenticatedClient): ApiKey & Required<Pick<ApiKey, 'trust'>> {
  const trust = client.kind === 'api-key' ? client.apiKey.trust : undefined;
  if (client.kind !== 'api-key' || trust === undefined) throw invalidClient(false);
  return { ...client.apiKey, trust };
}
