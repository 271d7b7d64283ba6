import Type from 'typebox';
import { address, file, path, url } from './kinds.ts';

const sharedUrl = '--auth-url on the same listener, else the address of its own';

/** Where the service listens, and how it is reached. */
export const addresses = {
  listen: address('HTTP: every host that has no listener of its own', { default: '127.0.0.1:8080' }),
  grpcListen: address('gRPC', { default: '127.0.0.1:8081' }),
  authListen: Type.Optional(address('HTTP: the token host alone')),
  apiListen: Type.Optional(address('HTTP: the management API alone')),
  metricsListen: Type.Optional(address('HTTP: the metrics host alone')),
  opsListen: Type.Optional(
    address(
      'HTTP without TLS: /healthz, /readyz and /metrics alone. Without it, only clients on the same machine may read /metrics',
    ),
  ),
  authUrl: Type.Optional(
    url(
      'Public URL of the token host: the issuer of its tokens. Required when it listens on all addresses',
      'the address of its listener',
    ),
  ),
  baseUrl: Type.Optional(url('Public URL of the management API: the audience of the tokens', sharedUrl)),
  metricsUrl: Type.Optional(url('Public URL of the metrics host', sharedUrl)),
  metricsPathPrefix: Type.Optional(
    path(
      'Another path for telemetry and snippet.js, such as /t, for a domain of your own that no ad blocker knows',
    ),
  ),
  trustedProxies: Type.Optional(
    Type.String({
      group: 'Addresses',
      value: 'LIST',
      description:
        'Proxies whose --proxy-header is believed: addresses, networks such as 10.0.0.0/8, loopback and private, with commas between',
      defaultText: 'none',
      pattern: '\\S',
      must: 'be addresses and networks with commas between',
    }),
  ),
  proxyHeader: Type.Enum(['x-forwarded-for', 'forwarded'], {
    group: 'Addresses',
    value: 'NAME',
    description:
      'The one header in which trusted proxies write the address of a client: x-forwarded-for, or forwarded (RFC 7239)',
    default: 'x-forwarded-for',
    must: 'be x-forwarded-for or forwarded',
  }),
  tlsCert: Type.Optional(file('TLS', 'Certificate chain (PEM) of HTTP and gRPC; needs --tls-key')),
  tlsKey: Type.Optional(file('TLS', 'Private key (PEM) of the certificate; needs --tls-cert')),
};
