import { expect } from 'vitest';
import { type Attack, encode, signWith, splitToken } from '../forgery.ts';

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/**
 * Returns other base64url texts that decode to the same bytes. They differ in the unused bits of the last character.
 */
function respellings(part: string): string[] {
  const spare = [0, 0, 4, 2][part.length % 4] ?? 0;
  const last = alphabet.indexOf(part.at(-1) ?? '');
  return Array.from({ length: 2 ** spare - 1 }, (_, bits) => `${part.slice(0, -1)}${alphabet[last ^ (bits + 1)]}`);
}

/** Other encodings of a real token. Only one encoding is valid. */
export const otherTexts: readonly Attack[] = [
  [
    'other spare bits',
    ({ sign: real, claims, header }) => {
      // At least one of these ids gives a payload with unused bits. The signature length is fixed.
      const token = [claims.jti, `${claims.jti}x`, `${claims.jti}xx`].flatMap((jti) => {
        const [head, payload, signature] = splitToken(real({ ...claims, jti }, header));
        return [
          ...respellings(head).map((other) => `${other}.${payload}.${signature}`),
          ...respellings(payload).map((other) => `${head}.${other}.${signature}`),
          ...respellings(signature).map((other) => `${head}.${payload}.${other}`),
        ];
      });
      expect(token.length).toBeGreaterThan(3);
      return token;
    },
  ],
  [
    'another encoding of the payload, signed as such',
    ({ privateKey, header, claims }) =>
      [claims.jti, `${claims.jti}x`].flatMap((jti) =>
        respellings(encode({ ...claims, jti })).map((payload) => signWith(privateKey, `${encode(header)}.${payload}`)),
      ),
  ],
  [
    'extra or missing characters',
    ({ sign: real }) => {
      const token = real();
      const [header, payload, signature] = splitToken(token);
      return [
        ...[`${token}=`, `${token}==`, `${token}.`, `.${token}`, `${token} `, `${token}\n`, `\t${token}`, `${token}\0`],
        ...[`${header}..${signature}`, `${header}.${payload}`, `${header}.${payload}.`, `..`, '', '.', payload],
        ...[`${token}.${signature}`, `${header}.${payload}..${signature}`, `${header}=.${payload}.${signature}`],
        `${header}.${payload}.${signature.slice(0, 10)} ${signature.slice(10)}`,
        `${header}.${payload}.${signature.replaceAll('-', '+').replaceAll('_', '/')}=`,
        JSON.stringify({ payload, protected: header, signature }),
        JSON.stringify({ payload, signatures: [{ protected: header, signature }] }),
        'a.b.c.d.e',
      ];
    },
  ],
  [
    'an empty signature',
    ({ sign: real }) => {
      const [header, payload, signature] = splitToken(real());
      const { length } = Buffer.from(signature, 'base64url');
      return [Buffer.alloc(length), Buffer.alloc(length, 255), Buffer.alloc(length, 1), Buffer.alloc(1)].map(
        (bytes) => `${header}.${payload}.${bytes.toString('base64url')}`,
      );
    },
  ],
  [
    'a token truncated, extended or joined from two tokens',
    ({ sign: real, claims }) => {
      const [header, payload, signature] = splitToken(real());
      const [, raised] = splitToken(real({ ...claims, role: 'Admin' }));
      const bytes = Buffer.from(signature, 'base64url');
      const others = [
        bytes.subarray(1),
        bytes.subarray(0, -1),
        Buffer.concat([bytes, bytes]),
        Buffer.concat([bytes, Buffer.alloc(1)]),
      ];
      return [
        `${header}.${raised}.${signature}`,
        ...others.map((other) => `${header}.${payload}.${other.toString('base64url')}`),
      ];
    },
  ],
  [
    'a change of any character',
    ({ sign: real }) => {
      const token = real();
      return Array.from({ length: Math.ceil(token.length / 5) }, (_, step) => {
        const at = step * 5;
        return `${token.slice(0, at)}${token[at] === 'A' ? 'B' : 'A'}${token.slice(at + 1)}`;
      });
    },
  ],
];
