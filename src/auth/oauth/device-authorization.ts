import Type from 'typebox';
import { count, shape, text } from '../../contract/shapes/fields.ts';
import { type Endpoint, jsonResponse } from '../../http/endpoint.ts';
import { grantedScope } from './authorization-request.ts';
import { apiKeyRefused, requireSignInClient } from './clients.ts';
import { deviceCodeLifetime, pollInterval } from './device-codes.ts';
import { type ClientServices, clientEndpoint, clientForm } from './forms.ts';
import { OAuthError } from './oauth-error.ts';

/** The response to a device (RFC 8628 §3.2). */
const DeviceAuthorization = shape(
  'DeviceAuthorization',
  {
    device_code: text('The code with which the device polls the token endpoint.'),
    user_code: text('The code that the user enters.'),
    verification_uri: text('The page where the user enters that code.'),
    verification_uri_complete: text('The address of the same page, with the code filled in.'),
    expires_in: count('Lifetime of both codes, in seconds.'),
    interval: count('Minimum interval between two polls, in seconds.'),
  },
  {
    device_code: 'GmRh…',
    user_code: 'WDJB-MJHT',
    verification_uri: 'https://auth.example/connect/device',
    verification_uri_complete: 'https://auth.example/connect/device?user_code=WDJB-MJHT',
    expires_in: deviceCodeLifetime,
    interval: pollInterval,
  },
);

const form = clientForm({
  by: requireSignInClient,
  fields: { scope: Type.Optional(text('Must include `openid`.')) },
  async handle({ client: { clientId }, fields, request }, { issuer, serviceScope, devices }) {
    const scope = grantedScope(fields.scope, serviceScope);
    if (scope === undefined)
      throw new OAuthError('invalid_scope', `scope must include openid; ${serviceScope} is for the API`);
    const { deviceCode, userCode } = await devices.begin({ clientId, scope, address: request.remoteAddress });
    const page = `${issuer}/connect/device`;
    return {
      device_code: deviceCode,
      user_code: userCode,
      verification_uri: page,
      verification_uri_complete: `${page}?user_code=${userCode}`,
      expires_in: deviceCodeLifetime,
      interval: pollInterval,
    };
  },
});

/** `POST /connect/deviceauthorization` (RFC 8628 §3.1): issues the codes of a device without a browser. */
export const deviceAuthorizationEndpoint: Endpoint<ClientServices> = clientEndpoint('/connect/deviceauthorization', {
  operationId: 'authorizeDevice',
  summary: 'Start the sign-in of a device without a browser',
  who: 'Sign-in clients',
  forms: [form],
  response: jsonResponse(DeviceAuthorization, 'The codes.'),
  refuses: { unauthorized_client: apiKeyRefused, invalid_scope: 'scope must include openid; flagmeter is for the API' },
});
