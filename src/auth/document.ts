import type { Group } from '../http/endpoint.ts';
import { describeHost } from '../http/openapi/describe.ts';
import { documentEndpoint } from '../http/openapi/document-endpoint.ts';
import type { Json } from '../http/openapi/json-schema.ts';
import { authHost, pageTokens } from './auth-host.ts';

/** The settings of this deployment. */
export interface AuthDocumentSettings {
  /** Public URL of the auth host. */
  readonly issuer: string;
}

export const authDescription: Group<AuthDocumentSettings> = {
  tag: 'Description',
  description: 'The API itself.',
  endpoints: [documentEndpoint('/connect/openapi.json', describeAuthHost)],
};

/** The OpenAPI 3.1 document of the auth host. */
export function describeAuthHost({ issuer }: AuthDocumentSettings): Json {
  const host = {
    title: 'flagmeter: auth host',
    summary: 'Signs users in, and issues and revokes tokens',
    description: introduction,
    server: issuer,
    security: [{ client: [] }, {}],
    securitySchemes: {
      client: { type: 'http', scheme: 'basic', description: 'Id and secret of a client, form-encoded.' },
      bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
    },
  };
  return describeHost(host, [pageTokens, ...authHost, authDescription]);
}

const introduction = `OAuth 2.0 (RFC 6749, RFC 9700) and OpenID Connect Core 1.0. Libraries configure themselves by the discovery document.

**Clients.** API keys act for a team, with the grant \`client_credentials\`. Sign-in clients act for users, with the other grants.
A client with a secret sends it in the \`Authorization\` header or in the form; a public client sends its \`client_id\` alone, and
every client uses PKCE.

**Refusals** have the form of RFC 6749 §5.2: \`error\` is a stable word, \`error_description\` is for people. 429 and 503 carry
\`Retry-After\` in seconds. A form has 16 KiB at most, and no parameter twice.`;
