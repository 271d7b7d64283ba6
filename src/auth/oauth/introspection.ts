import Type, { type Static } from 'typebox';
import { type DeepReadonly, list, number, text } from '../../contract/shapes/fields.ts';
import { type Endpoint, jsonResponse } from '../../http/endpoint.ts';
import type { Request } from '../../http/types.ts';
import { type AuthenticatedClient, invalidClient } from './clients.ts';
import { type ClientCall, type ClientServices, clientEndpoint, clientForm } from './forms.ts';
import { tokenFields } from './revocation.ts';
import type { Services } from './services.ts';
import { endsAt, findSessionUser, isCurrent, readRefreshToken } from './sessions.ts';
import type { AccessClaims } from './tokens.ts';
import { validOrNot } from './validation.ts';

const Active = Type.Object({
  active: Type.Literal(true),
  token_type: Type.Optional(Type.Literal('Bearer', { description: 'Access tokens only.' })),
  client_id: text('The client that the token was issued to.'),
  scope: text('The scopes, separated by spaces.'),
  sub: text('Id of the user. For a token of an API key, the client id.'),
  iat: number('Time of issue, seconds since 1970.'),
  exp: number('Expiry time, seconds since 1970.'),
  iss: Type.Optional(text('The issuer.')),
  aud: Type.Optional(text('The audience.')),
  jti: Type.Optional(text('Id of the token.')),
  sid: Type.Optional(text('Id of the session.')),
  email: Type.Optional(text('E-mail address of the user.')),
  name: Type.Optional(text('Full name of the user.')),
  role: Type.Optional(text('Role of the user or the API key.')),
  team: Type.Optional(list(Type.String(), 'Ids of the teams.')),
  primaryTeam: Type.Optional(Type.Union([Type.String(), Type.Null()])),
});
const Inactive = Type.Object({ active: Type.Literal(false) });
const Introspection = Type.Union([Active, Inactive], { component: 'Introspection', example: { active: false } });
type Introspection = DeepReadonly<Static<typeof Introspection>>;

/** The response for a token that is not valid, or that the client is not allowed to see (RFC 7662 §2.2). */
const inactive: Introspection = { active: false };

const form = clientForm({ by: requireConfidentialClient, fields: tokenFields, handle: introspect });

/** `POST /connect/introspect` (RFC 7662): returns the validity and the claims of a token. */
export const introspectionEndpoint: Endpoint<ClientServices> = clientEndpoint('/connect/introspect', {
  operationId: 'introspectToken',
  summary: 'Introspect a token',
  description:
    'A client sees its own tokens, and the access tokens of the members of its team. Any other token is reported as inactive.',
  credential: 'Client id, with a secret or a signed assertion',
  who: 'Any client, for its own tokens and the access tokens of members of its team',
  forms: [form],
  response: jsonResponse(Introspection, 'Validity and claims of the token.'),
  refuses: {},
});

/** @throws {OAuthError} `invalid_client` for a public client */
function requireConfidentialClient(client: AuthenticatedClient, request: Request): AuthenticatedClient {
  if (client.kind === 'sign-in' && client.client.secretHash === null)
    throw invalidClient(request.header('authorization') !== undefined);
  return client;
}

async function introspect(
  { client, fields: { token } }: ClientCall<AuthenticatedClient, { token: string }>,
  services: ClientServices,
): Promise<Introspection> {
  const claims = await validOrNot(services.validate, token);
  if (claims === undefined) return introspectRefreshToken(services, token, client.id);
  return mayKnow(client, claims) ? { active: true, token_type: 'Bearer', ...claims } : inactive;
}

function mayKnow(client: AuthenticatedClient, { client_id, team }: AccessClaims): boolean {
  const { teamId } = client.kind === 'api-key' ? client.apiKey : client.client;
  return client_id === client.id || (teamId !== null && team.includes(teamId));
}

function introspectRefreshToken(services: Services, text: string, clientId: string): Introspection {
  const token = readRefreshToken(text);
  const session = token && services.accountStore.get('sessions', token.session);
  if (!session || session.clientId !== clientId || !isCurrent(token, session)) return inactive;
  const user = findSessionUser(services, services.directory, session);
  if (user === undefined) return inactive;
  return {
    active: true,
    client_id: clientId,
    scope: session.scope,
    sub: user.id,
    iat: seconds(session.refreshedAt),
    exp: seconds(endsAt(session)),
  };
}

function seconds(ms: number): number {
  return Math.floor(ms / 1000);
}
