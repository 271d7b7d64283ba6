import { version } from '../../../package.json' with { type: 'json' };
import { documentPath } from '../../http/openapi/document-route.ts';
import { contentEncoding, retryAfter } from '../../http/openapi/headers.ts';
import type { Json } from '../../http/openapi/json-schema.ts';
import { namedSchemas } from '../../http/openapi/named-schemas.ts';
import { Problem } from '../../http/openapi/refusals.ts';
import type { RouteName } from '../access.ts';
import { answerHeaders } from './answers.ts';
import { apiKeys } from './api-keys.ts';
import { applications } from './applications.ts';
import { audit } from './audit.ts';
import { clients } from './clients.ts';
import { deletions } from './deletions.ts';
import { environments } from './environments.ts';
import { features } from './features.ts';
import { identities } from './identities.ts';
import { ingest } from './ingest.ts';
import { invalidateTokenPath } from './invalidate-token.ts';
import { keys } from './keys.ts';
import { members } from './members.ts';
import { metrics } from './metrics.ts';
import { operation, templateOf } from './operation.ts';
import { parameters } from './parameters.ts';
import { reports } from './reports.ts';
import { teams } from './teams.ts';
import { users } from './users.ts';

/** What the document says of this one deployment. */
export interface DocumentSettings {
  /** Public URL of the auth host. */
  readonly issuer: string;
  /** Public URL of the base host. */
  readonly audience: string;
  readonly serviceScope: string;
}

const resources = [
  ...[applications, environments, keys, features, metrics, reports, ingest, identities],
  ...[teams, members, apiKeys, clients, users, deletions, audit],
];

/** The OpenAPI 3.1 document of the management API, from its table of access and the schemas that check its bodies. */
export function describeManagementApi({ issuer, audience, serviceScope }: DocumentSettings): Json {
  return {
    openapi: '3.1.0',
    info: {
      title: 'flagmeter: management API',
      version,
      summary: 'Manages applications, teams and users, and reports what was counted',
      description: words,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: audience }],
    security: [{ oauth2: [serviceScope] }],
    tags: [
      ...resources.map(({ tag, words }) => ({ name: tag, description: words })),
      { name: 'Tokens', description: 'Access tokens; the auth host issues them.' },
      { name: 'Description', description: 'The API itself.' },
    ],
    paths: {
      ...paths(),
      '/api/account/invalidate-token': invalidateTokenPath,
      '/api/v2/openapi.json': documentPath('Description'),
    },
    components: {
      schemas: {
        ...Object.fromEntries(
          resources.flatMap(({ shapes }) => shapes.map(({ name, schema }) => [name, schema])),
        ),
        Problem,
        Name: namedSchemas.Name,
      },
      parameters: { ...parameters, ContentEncoding: contentEncoding },
      headers: { ...answerHeaders, RetryAfter: retryAfter },
      securitySchemes: { oauth2: oauth2(issuer, serviceScope) },
    },
  };
}

/** Every route of the table, by path and method. */
function paths(): Json {
  const found: Record<string, Json> = {};
  for (const { tag, routes } of resources) {
    for (const [name, described] of Object.entries(routes)) {
      const [method = '', path = ''] = name.split(' ');
      const template = templateOf(path);
      const one = { [method.toLowerCase()]: operation(name as RouteName, tag, described) };
      found[template] = { ...found[template], ...one };
    }
  }
  return found;
}

function oauth2(issuer: string, serviceScope: string): Json {
  const tokenUrl = `${issuer}/connect/token`;
  const scopes = { openid: 'Who the caller is.', [serviceScope]: 'This API.' };
  return {
    type: 'oauth2',
    description:
      'Client credentials of an API key, with both scopes; or the authorization code grant with PKCE.',
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

const words = `Every request carries \`Authorization: Bearer <access token>\`. A token lives for an hour; it is refused from the moment on
at which it is invalidated, or whom it stands for is gone.

**Who may do what.** An Admin manages everything in his teams. A User reads, and writes features and metrics. What is of other
teams is answered 404, like what is not there; 403 means that you may know of it, but not do it. Checked in this order:
401, 429, 404, 403, then the body.

**Refusals** are \`application/problem+json\` (RFC 9457) with a stable \`code\`. What is refused has changed nothing. A token
that asks too often gets 429; 429 and 503 carry \`Retry-After\` in seconds.

**Lists** come in pages. Whatever comes or goes between two pages, what is there all the time is shown exactly once.

**Changes** are on disk before they are answered. What has an \`ETag\` takes \`If-Match\`: then a change is made only to what
you have seen, or refused with 412.

Bodies are JSON in UTF-8, and a field that is not known is refused. Times are RFC 3339 in UTC. Ids are opaque.`;
