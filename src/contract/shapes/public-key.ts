import Type from 'typebox';
import { oneOf, text } from './fields.ts';

export const signatureAlgorithms = ['ES256', 'RS256', 'EdDSA'] as const;

/** A registered key in an answer. */
export const ShownPublicKey = Type.Object({
  kid: text('Id of the key: as given, or its thumbprint (RFC 7638).'),
  alg: oneOf(signatureAlgorithms, 'The only algorithm of its signatures.'),
});

/** The keys of a client in a body. */
export const publicKeys = Type.Array(
  Type.Unsafe<Readonly<Record<string, unknown>>>(Type.Object({}, { additionalProperties: true })),
  {
    description:
      'Public keys as JWK (RFC 7517), with which it authenticates in place of a secret: RSA keys of at least 2048 bits, EC keys on P-256 or Ed25519 keys. A private key is refused.',
    documented: { minItems: 1, maxItems: 5 },
  },
);
