import Type from 'typebox';
import { list, oneOf, text } from './fields.ts';
import { option } from './option.ts';

const signatureAlgorithms = ['ES256', 'RS256', 'EdDSA'] as const;

export const ShownPublicKey = Type.Object({
  kid: text('Id of the key: the registered `kid`, or else the thumbprint of the key (RFC 7638).'),
  alg: oneOf(signatureAlgorithms, 'The only accepted algorithm of signatures by the key.'),
});

const jwk = Type.Unsafe<Readonly<Record<string, unknown>>>(Type.Object({}, { additionalProperties: true }));

export const publicKeys = Type.Array(jwk, {
  description:
    'Public keys as JWK (RFC 7517), used for authentication instead of a secret: RSA keys of at least 2048 bits, EC keys on P-256 or Ed25519 keys. A private key is refused.',
  documented: { minItems: 1, maxItems: 5 },
});

export const publicKeyOption = option(
  'public-key-file FILE',
  'File with a public key as JWK, used instead of a secret',
  { file: true, as: 'jsonFile', more: 'repeatable' },
);

const ofTrust = {
  issuer: text(
    'Issuer, which must equal the claim `iss` exactly. The discovery document of the issuer names the keys.',
  ),
  audience: text('Audience, which must be in the claim `aud`.'),
  subject: text(
    'Pattern for the claim `sub`. Colons and slashes separate segments. From the third segment on, a segment may contain one `*`, which stands for one or more characters of the segment.',
  ),
  claims: Type.Optional(
    Type.Unsafe<Readonly<Record<string, string>>>(
      Type.Object(
        {},
        { additionalProperties: Type.String(), description: 'Further claims and their required values, at most 10.' },
      ),
    ),
  ),
};

/** The workloads whose tokens an API key accepts. */
export const trust = Type.Object(
  {
    ...ofTrust,
    jwks: Type.Optional(
      Type.Object(
        { keys: Type.Array(jwk, { documented: { minItems: 1, maxItems: 5 } }) },
        {
          additionalProperties: false,
          description:
            'Keys of the issuer as a JWK set, for an issuer that this server cannot reach, such as a Kubernetes cluster.',
        },
      ),
    ),
  },
  {
    additionalProperties: false,
    description: 'Workloads whose tokens are accepted instead of a secret, by a token exchange (RFC 8693).',
  },
);

export const ShownTrust = Type.Object({
  ...ofTrust,
  publicKeys: list(ShownPublicKey, 'Static keys of the issuer. Empty if the server fetches the keys.'),
});
