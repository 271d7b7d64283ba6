import Type from 'typebox';
import { address, file, path, url, whole } from './kinds.ts';

const sharedUrl = '--auth-url on the same listener, otherwise the address of its own listener';

export const access = {
  listen: address('HTTP listener of all hosts without a listener of their own', { default: '127.0.0.1:8080' }),
  grpcListen: address(
    'gRPC listener, which also serves the metrics host. If an HTTP listener has the same address, both listeners share the port',
    { default: '127.0.0.1:8081' },
  ),
  authListen: Type.Optional(address('HTTP listener of the token host')),
  apiListen: Type.Optional(address('HTTP listener of the management API')),
  metricsListen: Type.Optional(address('HTTP listener of the metrics host')),
  opsListen: Type.Optional(
    address(
      'HTTP listener without TLS for /healthz, /readyz and /metrics. Without it, only clients on the same machine may read /metrics',
    ),
  ),
  authUrl: Type.Optional(
    url(
      'Public URL of the token host, which is the issuer of its tokens. Required if the token host listens on all addresses',
      'the address of its listener',
    ),
  ),
  baseUrl: Type.Optional(url('Public URL of the management API, which is the audience of the tokens', sharedUrl)),
  metricsUrl: Type.Optional(url('Public URL of the metrics host', sharedUrl)),
  metricsPathPrefix: Type.Optional(
    path('Alternative path for telemetry and snippet.js, such as /t, to avoid ad blockers on your own domain'),
  ),
  trustedProxies: Type.Optional(
    Type.String({
      group: 'Addresses',
      value: 'LIST',
      description:
        'Proxies whose --proxy-header is trusted, separated by commas: addresses, networks such as 10.0.0.0/8, loopback and private',
      defaultText: 'none',
      pattern: '\\S',
      must: 'be addresses and networks, separated by commas',
    }),
  ),
  proxyHeader: Type.Enum(['x-forwarded-for', 'forwarded'], {
    group: 'Addresses',
    value: 'NAME',
    description: 'Header with the client address from trusted proxies: x-forwarded-for or forwarded (RFC 7239)',
    default: 'x-forwarded-for',
    must: 'be x-forwarded-for or forwarded',
  }),
  tlsCert: Type.Optional(file('TLS', 'Certificate chain (PEM) for HTTP and gRPC; requires --tls-key')),
  tlsKey: Type.Optional(file('TLS', 'Private key (PEM) of the certificate; requires --tls-cert')),
  serviceScope: Type.String({
    group: 'Tokens',
    value: 'SCOPE',
    description: 'Scope of this service, requested in addition to openid',
    default: 'flagmeter',
    // RFC 6749, section 3.3: scope-token.
    pattern: '^(?!openid$)[\\x21\\x23-\\x5B\\x5D-\\x7E]+$',
    must: 'be one word of printable ASCII without quotes or backslashes, and not openid',
  }),
  signingAlg: Type.Enum(['ES256', 'RS256', 'EdDSA'], {
    group: 'Tokens',
    value: 'ALG',
    description: 'Algorithm for signing tokens: ES256, RS256 or EdDSA. A change creates a new key',
    default: 'ES256',
    must: 'be ES256, RS256 or EdDSA',
  }),
  identityProviders: Type.Optional(
    file('Signing in', 'JSON file with identity providers that only the operator can change; read again after SIGHUP'),
  ),
  issuerAllowPrivate: Type.Boolean({
    group: 'Signing in',
    value: '',
    description:
      'Allow issuers (identity providers, workload identity) at loopback, private and link-local addresses, also over http',
    default: false,
    must: 'be true or false',
  }),
  invitationTtl: whole('Signing in', 'Lifetime of the link for an invited user, in seconds', {
    value: 'SECONDS',
    minimum: 60,
    maximum: 7_776_000,
    default: 604_800,
  }),
};
