import { constants, createHmac, createPublicKey, sign } from 'node:crypto';
import { type Attack, encode, splitToken } from '../forgery.ts';

/** Tokens that pass if the verifier trusts the algorithm in the token. */
export const otherAlgorithms: readonly Attack[] = [
  [
    'the algorithm none',
    ({ header, claims, sign: real }) =>
      ['none', 'None', 'NONE', 'nOnE', ''].flatMap((alg) => {
        const input = `${encode({ ...header, alg })}.${encode(claims)}`;
        return [`${input}.`, `${input}.AA`, `${input}.${splitToken(real())[2]}`, real(claims, { ...header, alg })];
      }),
  ],
  ['no algorithm', ({ claims, header: { alg, ...header }, sign: real }) => real(claims, header)],
  [
    'every other algorithm name, with a real signature',
    ({ claims, header, sign: real, alg: own }) =>
      ['ES256', 'RS256', 'EdDSA', 'Ed25519', 'ES256K', 'ES384', 'ES512', 'RS384', 'PS256', 'HS256', 'dir']
        .filter((alg) => alg !== own)
        .map((alg) => real(claims, { ...header, alg })),
  ],
  [
    'the right algorithm name in another case',
    ({ claims, header, alg, sign: real }) => real(claims, { ...header, alg: alg.toLowerCase() }),
  ],
  [
    'HMAC with the public key as its secret',
    ({ claims, header, settings, privateKey }) => {
      const publicKey = createPublicKey(privateKey);
      const [jwk] = settings.keys.published;
      const secrets = [
        JSON.stringify(jwk),
        JSON.stringify(publicKey.export({ format: 'jwk' })),
        publicKey.export({ format: 'pem', type: 'spki' }),
        publicKey.export({ format: 'der', type: 'spki' }),
        String(jwk?.['x'] ?? jwk?.['n']),
        Buffer.from(String(jwk?.['x'] ?? jwk?.['n']), 'base64url'),
        '',
      ];
      return ['256', '384', '512'].flatMap((size) =>
        secrets.flatMap((secret) =>
          [`HS${size}`, header['alg']].map((alg) => {
            const input = `${encode({ ...header, alg })}.${encode(claims)}`;
            return `${input}.${createHmac(`sha${size}`, secret).update(input).digest('base64url')}`;
          }),
        ),
      );
    },
  ],
  [
    'another padding or form of a signature with the real key',
    ({ alg, claims, header, privateKey }) => {
      const input = Buffer.from(`${encode(header)}.${encode(claims)}`);
      const signatures = {
        ES256: () => [
          sign('sha256', input, { key: privateKey, dsaEncoding: 'der' }),
          sign('sha512', input, { key: privateKey, dsaEncoding: 'ieee-p1363' }),
        ],
        RS256: () => [
          sign('sha256', input, { key: privateKey, padding: constants.RSA_PKCS1_PSS_PADDING }),
          sign('sha512', input, privateKey),
          sign('sha1', input, privateKey),
        ],
        EdDSA: () => [sign(null, Buffer.from(`${input}.`), privateKey)],
      };
      return signatures[alg]().map((bytes) => `${input}.${bytes.toString('base64url')}`);
    },
  ],
];

/** Tokens that pass if the verifier trusts the key in the token. */
export const ownKeys: readonly Attack[] = [
  ['the header of the real token', ({ claims, header }, others) => others.map((other) => other.sign(claims, header))],
  ['the header of the other key', ({ claims }, others) => others.map((other) => other.sign(claims))],
  [
    'a key embedded as jwk',
    ({ claims, header }, others) =>
      others.flatMap((other) => {
        const [jwk] = other.settings.keys.published;
        const { kid, ...unnamed } = header;
        return [
          { ...header, jwk },
          { ...unnamed, jwk },
          { ...header, kid: jwk?.kid, jwk },
        ].map((own) => other.sign(claims, own));
      }),
  ],
];
