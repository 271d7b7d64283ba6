import type { Attack } from '../forgery.ts';

/** Token headers with unexpected values, signed with the real key. */
export const otherHeaders: readonly Attack[] = [
  [
    'key ids with a meaning in other systems',
    ({ claims, header, sign: real }) =>
      [
        ...['../../../../dev/null', '/dev/null', "' OR '1'='1", '$(id)', 'https://evil.example/key', '', '*', '%00'],
        ...['__proto__', 'constructor', 'toString', `${header['kid']}\0`, `${header['kid']} `, ` ${header['kid']}`],
        ...[null, 0, true, [], [header['kid']], {}, { kid: header['kid'] }],
      ].map((kid) => real(claims, { ...header, kid })),
  ],
  ['no key id', ({ claims, header: { kid, ...header }, sign: real }) => real(claims, header)],
  [
    'another type',
    ({ claims, header, sign: real }) =>
      ['JWT', 'at+JWT', 'AT+JWT', 'application/at+jwt', 'jwt', 'JOSE', '', null, ['at+jwt'], undefined].map((typ) =>
        real(claims, { ...header, typ }),
      ),
  ],
  [
    'critical or unexpected extensions',
    ({ claims, header, sign: real }) =>
      [
        ...[
          { crit: ['b64'], b64: false },
          { crit: ['b64'], b64: true },
          { b64: false },
          { crit: [] },
          { crit: ['exp'] },
        ],
        ...[{ crit: 'exp' }, { zip: 'DEF' }, { cty: 'JWT' }, { iss: 'x' }, { x5t: 'x' }],
      ].map((more) => real(claims, { ...header, ...more })),
  ],
  [
    'the same header in another spelling',
    ({ claims, header: { alg, typ, kid }, sign: real }) => [
      real(claims, `{"alg":"none","alg":"${alg}","typ":"${typ}","kid":"${kid}"}`),
      real(claims, `{"alg":"${alg}","typ":"${typ}","kid":"${kid}","alg":"none"}`),
      real(claims, `{"alg": "${alg}","typ":"${typ}","kid":"${kid}"}`),
      real(claims, `{"\\u0061lg":"${alg}","typ":"${typ}","kid":"${kid}"}`),
      real(claims, { typ, alg, kid }),
      real(claims, `\uFEFF${JSON.stringify({ alg, typ, kid })}`),
    ],
  ],
  [
    'a header that is not JSON or not an object',
    ({ claims, sign: real }) => ['', '{', 'null', '[]', '"x"', '1'].map((header) => real(claims, header)),
  ],
];
