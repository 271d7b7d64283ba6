import { tokenInvalidation } from '../auth/oauth/revocation.ts';
import type { Group, Json } from '../http/endpoint.ts';
import { describeHost } from '../http/openapi/describe.ts';
import { documentEndpoint } from '../http/openapi/document-endpoint.ts';
import { managementApi } from './management-api.ts';

/** Settings of this deployment that the document contains. */
interface DocumentSettings {
  /** Public URL of the auth host. */
  readonly issuer: string;
  /** Public URL of this API, for which access tokens are valid. */
  readonly audience: string;
  readonly serviceScope: string;
}

export const description: Group<DocumentSettings> = {
  tag: 'Description',
  description: 'The API itself.',
  endpoints: [documentEndpoint('/api/v2/openapi.json', describeManagementApi)],
};

/** Creates the OpenAPI 3.1 document of the management API. */
export function describeManagementApi({ issuer, audience, serviceScope }: DocumentSettings): Json {
  const host = {
    title: 'flagmeter: management API',
    summary: 'Manages applications, teams and users, and reports usage',
    description: introduction,
    server: audience,
    security: [{ oauth2: [serviceScope] }],
    securitySchemes: { oauth2: oauth2(issuer, serviceScope) },
  };
  return describeHost(host, [...managementApi, tokenInvalidation, description]);
}

function oauth2(issuer: string, serviceScope: string): Json {
  const tokenUrl = `${issuer}/connect/token`;
  const scopes = { openid: 'The identity of the caller.', [serviceScope]: 'This API.' };
  return {
    type: 'oauth2',
    description: 'Client credentials of an API key, with both scopes; or the authorization code grant with PKCE.',
    flows: {
      clientCredentials: { tokenUrl, scopes },
      authorizationCode: {
        authorizationUrl: `${issuer}/connect/authorize`,
        tokenUrl,
        refreshUrl: tokenUrl,
        scopes: { ...scopes, email: 'The e-mail address of the user.' },
      },
    },
  };
}

const introduction = `Every request has the header \`Authorization: Bearer <access token>\`. A token is valid for an hour. A token is refused as
soon as the token is invalidated, or its user or API key is deleted.

**Roles.** An Admin manages everything in their teams. A User reads everything, and writes features and metrics. An unknown id
gets 404. An id of a team that the caller is not in gets 403 \`not_in_team\`. A call that requires an Admin gets
403 \`forbidden\`. Lists contain only resources of the caller's teams. The order of the checks is 401, 429, 404,
403, then the query and the body.

**Refusals** are \`application/problem+json\` (RFC 9457) with a stable \`code\`. A refused request has changed nothing. A client
with too many requests gets 429. Responses with 429 and 503 have \`Retry-After\` in seconds.

**Lists** are paged. An item that exists throughout is listed exactly once, even if other items are created or deleted
between two pages.

**Changes** are on disk before the response is sent. Resources with an \`ETag\` accept \`If-Match\`: the change is refused with 412 unless
the resource is still the version that you have read.

Bodies are JSON in UTF-8, and unknown fields are refused. Times are RFC 3339 in UTC. Ids are opaque.`;
