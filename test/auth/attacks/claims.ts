import { type Attack, splitToken } from '../forgery.ts';

/** Claims that no valid token has. */
export const otherClaims: readonly Attack[] = [
  [
    'a missing claim',
    ({ claims, sign: real }) =>
      Object.keys(claims).map((name) =>
        real(Object.fromEntries(Object.entries(claims).filter(([key]) => key !== name))),
      ),
  ],
  [
    'a claim of another type',
    ({ claims, sign: real }) =>
      Object.keys(claims)
        .flatMap((name) => [null, true, {}, [1], 1.5, ''].map((value) => real({ ...claims, [name]: value })))
        // Ids and scopes can be any text, because the verifier does not restrict them.
        .filter(
          (token) =>
            !/"(sub|client_id|scope|primaryTeam)":""/.test(Buffer.from(splitToken(token)[1], 'base64url').toString()),
        ),
  ],
  [
    'a duplicated claim',
    ({ claims, sign: real }) => {
      const text = JSON.stringify(claims);
      return Object.entries({ ...claims, role: 'Admin', exp: claims.exp + 1 }).flatMap(([name, value]) => {
        const member = `${JSON.stringify(name)}:${JSON.stringify(value)}`;
        const spelled = `"\\u${name.charCodeAt(0).toString(16).padStart(4, '0')}${name.slice(1)}":${JSON.stringify(value)}`;
        return [
          `{${member},${text.slice(1)}`,
          `${text.slice(0, -1)},${member}}`,
          `${text.slice(0, -1)},${spelled}}`,
        ].map((payload) => real(payload));
      });
    },
  ],
  [
    'another spelling of a claim',
    ({ claims, sign: real }) => {
      const text = JSON.stringify(claims);
      return [
        ` ${text}`,
        `${text}\n`,
        text.replace(':', ': '),
        text.replace('"sub"', '"\\u0073ub"'),
        text.replace(String(claims.exp), `${claims.exp}.0`),
        text.replace(String(claims.exp), '4e9'),
        `\uFEFF${text}`,
      ].map((payload) => real(payload));
    },
  ],
  [
    'another issuer',
    ({ claims, settings: { issuer }, sign: real }) =>
      ['https://evil.example', `${issuer}/`, issuer.toUpperCase(), `${issuer}.evil.example`, '', [issuer]].map((iss) =>
        real({ ...claims, iss }),
      ),
  ],
  [
    'another audience',
    ({ claims, settings: { issuer, audience }, sign: real }) =>
      [
        'https://other.example',
        issuer,
        'client_1',
        `${audience}/`,
        [audience],
        [audience, 'https://other.example'],
      ].map((aud) => real({ ...claims, aud })),
  ],
  [
    'another time',
    ({ claims, sign: real }) => [
      ...[claims.iat, claims.iat - 1, 0, -1, String(claims.exp), null].map((exp) => real({ ...claims, exp })),
      ...[claims.iat - 1, claims.iat, claims.iat + 1].map((nbf) => real({ ...claims, nbf })),
      real(JSON.stringify(claims).replace(String(claims.exp), '1e400')),
    ],
  ],
  ['an unknown claim', ({ claims, sign: real }) => real({ ...claims, cnf: { jkt: 'x' } })],
  [
    'a prototype',
    ({ claims, sign: real }) => real(`${JSON.stringify(claims).slice(0, -1)},"__proto__":{"role":"Admin"}}`),
  ],
  ['an unknown role', ({ claims, sign: real }) => ['Root', 'admin', 'Admin '].map((role) => real({ ...claims, role }))],
  [
    'a payload that is not an object or not JSON',
    ({ sign: real }) => ['', '{', 'null', '[]', '"x"', '1', '['.repeat(3000)].map((payload) => real(payload)),
  ],
];
