import type { Route } from '../http/types.ts';
import { grantedScope } from './authorization-request.ts';
import { type ClientEndpointDeps, type ClientRequest, clientEndpoint } from './client-endpoint.ts';
import { signInClientOf } from './clients.ts';
import { type DeviceCodes, deviceCodeLifetime, pollInterval } from './device-codes.ts';
import { OAuthError } from './oauth-error.ts';

export interface DeviceAuthorizationDeps extends ClientEndpointDeps {
  readonly devices: DeviceCodes;
  /** The public URL of the auth host. */
  readonly issuer: string;
  readonly serviceScope: string;
}

/** `POST /connect/deviceauthorization` (RFC 8628 §3.1): gives the codes of a device that has no browser. */
export function deviceAuthorizationRoutes(deps: DeviceAuthorizationDeps): readonly Route[] {
  return [clientEndpoint(deps, '/connect/deviceauthorization', (request) => begin(deps, request))];
}

/** RFC 8628 §3.2. */
function begin(deps: DeviceAuthorizationDeps, { form, request, authenticate }: ClientRequest): object {
  const { clientId } = signInClientOf(authenticate());
  const scope = grantedScope(form.get('scope'), deps.serviceScope);
  if (scope === undefined)
    throw new OAuthError('invalid_scope', `scope must hold openid; ${deps.serviceScope} is for the API`);
  const { deviceCode, userCode } = deps.devices.begin({ clientId, scope, address: request.remoteAddress });
  const page = `${deps.issuer}/connect/device`;
  return {
    device_code: deviceCode,
    user_code: userCode,
    verification_uri: page,
    verification_uri_complete: `${page}?user_code=${userCode}`,
    expires_in: deviceCodeLifetime,
    interval: pollInterval,
  };
}
