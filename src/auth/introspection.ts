import type { Route } from '../http/types.ts';
import type { AccessClaims } from './access-token.ts';
import { invalidClient } from './client-credentials.ts';
import { type ClientEndpointDeps, type ClientRequest, clientEndpoint } from './client-endpoint.ts';
import type { AuthenticatedClient } from './clients.ts';
import { parameter } from './form.ts';
import { isCurrent, readRefreshToken } from './refresh-token.ts';
import { endsAt, type SessionDeps, userOf } from './sessions.ts';
import { type ValidateToken, validOrNot } from './validate-token.ts';

export interface IntrospectionDeps extends SessionDeps, Omit<ClientEndpointDeps, 'directory'> {
  readonly validate: ValidateToken;
}

/** The answer for whatever is not valid now, or is not to be known of (RFC 7662 §2.2). */
const inactive = { active: false };

/**
 * `POST /connect/introspect` (RFC 7662), for clients that have a secret: whether a token is good now, and what it says.
 * A client sees its own tokens, and the access tokens of whoever is in its team.
 */
export function introspectionRoutes(deps: IntrospectionDeps): readonly Route[] {
  return [clientEndpoint(deps, '/connect/introspect', (request) => introspect(deps, request))];
}

async function introspect(deps: IntrospectionDeps, { form, request, authenticate }: ClientRequest) {
  const client = authenticate();
  if (client.kind === 'sign-in' && client.client.secretHash === null)
    throw invalidClient(request.header('authorization') !== undefined);
  const token = parameter(form, 'token');
  const claims = await validOrNot(deps.validate, token);
  if (claims === undefined) return introspectRefreshToken(deps, token, client.id);
  return mayKnow(client, claims) ? { active: true, token_type: 'Bearer', ...claims } : inactive;
}

function mayKnow(client: AuthenticatedClient, { client_id, team }: AccessClaims): boolean {
  const { teamId } = client.kind === 'api-key' ? client.apiKey : client.client;
  return client_id === client.id || (teamId !== null && team.includes(teamId));
}

function introspectRefreshToken(deps: SessionDeps, text: string, clientId: string): object {
  const token = readRefreshToken(text);
  const session = token && deps.engine.get('sessions', token.session);
  if (!session || session.clientId !== clientId || !isCurrent(token, session)) return inactive;
  const user = userOf(deps, deps.directory, session);
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
