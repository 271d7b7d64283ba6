import type { RawHeader } from './raw-http2.ts';

/** The request to hide in another request. The proxy denies it, so it must not reach the service. */
export const hidden = 'GET /swagger/v2/swagger.json HTTP/1.1\r\nHost: localhost\r\n\r\n';

const post = 'POST /api/usage/stats HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';
const get = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n';
const chunked = 'Transfer-Encoding: chunked\r\n';
const hex = hidden.length.toString(16);

/** Header lines that make one reader parse chunks, while another reader uses the length. */
const obfuscated: readonly (readonly [string, string])[] = [
  ['an unknown coding', 'Transfer-Encoding: xchunked\r\n'],
  ['a space before the colon', 'Transfer-Encoding : chunked\r\n'],
  ['a tab for a space', 'Transfer-Encoding:\tchunked\r\n'],
  ['a vertical tab', 'Transfer-Encoding:\x0bchunked\r\n'],
  ['a NUL at the end', 'Transfer-Encoding: chunked\x00\r\n'],
  ['quotes', 'Transfer-Encoding: "chunked"\r\n'],
  ['capitals', 'TRANSFER-ENCODING: CHUNKED\r\n'],
  ['two codings', 'Transfer-Encoding: chunked, identity\r\n'],
  ['two codings in reverse order', 'Transfer-Encoding: identity, chunked\r\n'],
  ['chunked twice', 'Transfer-Encoding: chunked, chunked\r\n'],
  ['two coding lines', `${chunked}Transfer-Encoding: x\r\n`],
  ['two coding lines in reverse order', `Transfer-Encoding: x\r\n${chunked}`],
  ['an empty coding line before it', `Transfer-Encoding:\r\n${chunked}`],
  ['a parameter', 'Transfer-Encoding: chunked;q=1\r\n'],
  ['a comma', 'Transfer-Encoding: ,chunked,\r\n'],
  ['a folded line', 'Transfer-Encoding:\r\n chunked\r\n'],
  ['a line that begins with a space', ' Transfer-Encoding: chunked\r\n'],
  ['a bare line feed before the coding', 'X: x\nTransfer-Encoding: chunked\r\n'],
  ['a bare carriage return before the coding', 'X: x\rTransfer-Encoding: chunked\r\n'],
  ['a bare line feed after the coding', 'Transfer-Encoding: chunked\nX: x\r\n'],
  ['an underscore', 'Transfer_Encoding: chunked\r\n'],
  ['a coding that Connection removes', `Connection: transfer-encoding\r\n${chunked}`],
];

const lengths: readonly (readonly [string, string])[] = [
  ['two lengths', `Content-Length: 0\r\nContent-Length: ${hidden.length}\r\n`],
  ['two lengths in reverse order', `Content-Length: ${hidden.length}\r\nContent-Length: 0\r\n`],
  ['two lengths in a line', `Content-Length: 0, ${hidden.length}\r\n`],
  ['a sign', `Content-Length: +${hidden.length}\r\n`],
  ['a negative length', 'Content-Length: -1\r\n'],
  ['a length in hexadecimal', `Content-Length: 0x${hex}\r\n`],
  ['a length with a space in it', `Content-Length: 0 ${hidden.length}\r\n`],
  ['a length with a fraction', `Content-Length: ${hidden.length}.0\r\n`],
  ['a length beyond 64 bits', 'Content-Length: 18446744073709551616\r\n'],
  ['no length', 'Content-Length:\r\n'],
  ['a folded length', `Content-Length:\r\n ${hidden.length}\r\n`],
  ['a length in a folded line', `X: x\r\n Content-Length: ${hidden.length}\r\n`],
  ['a space before the colon of the length', `Content-Length : ${hidden.length}\r\n`],
  ['a bare line feed before the length', `X: x\nContent-Length: ${hidden.length}\r\n`],
  ['a length that Connection removes', `Connection: content-length\r\nContent-Length: ${hidden.length}\r\n`],
];

const chunks: readonly (readonly [string, string])[] = [
  ['a bare line feed in an extension', `2;\n{}\r\n0\r\n\r\n`],
  ['a chunk in an extension', `1;\n${hex}\r\n${hidden}\r\n0\r\n\r\n`],
  ['an extension', `0;x="\r\n\r\n${hidden}"\r\n\r\n`],
  ['a length with a sign', `+0\r\n\r\n`],
  ['a negative length of a chunk', `-1\r\n\r\n`],
  ['a length with 0x', `0x0\r\n\r\n`],
  ['a length with a space before it', ` 0\r\n\r\n`],
  ['a length with a space behind it', `0 \r\n\r\n`],
  ['a length that overflows', `10000000000000000\r\n\r\n`],
  ['an empty length', `\r\n\r\n`],
  ['lines that end with a bare line feed', `0\n\n`],
  ['lines that end with a bare carriage return', `0\r\r`],
  ['more bytes than the length', `2\r\n{}x0\r\n\r\n`],
  ['trailers', `0\r\nContent-Length: ${hidden.length}\r\nHost: other\r\n\r\n`],
];

/** Attempts to hide a request over HTTP/1.1: a description and the bytes to send. */
export const http1Attempts: readonly (readonly [string, string])[] = [
  ['a length and chunks (CL.TE)', `${post}Content-Length: ${hidden.length + 5}\r\n${chunked}\r\n0\r\n\r\n${hidden}`],
  [
    'chunks and a length (TE.CL)',
    `${post}${chunked}Content-Length: ${hex.length + 2}\r\n\r\n${hex}\r\n${hidden}\r\n0\r\n\r\n`,
  ],
  ...obfuscated.flatMap(([name, line]) => [
    [
      `${name}, and a length (TE.TE)`,
      `${post}Content-Length: ${hidden.length + 5}\r\n${line}\r\n0\r\n\r\n${hidden}`,
    ] as const,
    [
      `a length, and ${name} (TE.TE)`,
      `${post}${line}Content-Length: ${hex.length + 2}\r\n\r\n${hex}\r\n${hidden}\r\n0\r\n\r\n`,
    ] as const,
  ]),
  ...lengths.map(([name, line]) => [name, `${post}${line}\r\n${hidden}`] as const),
  ...chunks.map(([name, body]) => [`chunks with ${name}`, `${post}${chunked}\r\n${body}${hidden}`] as const),
  ['a body of a GET', `${get}Content-Length: ${hidden.length}\r\n\r\n${hidden}`],
  ['chunks of a GET', `${get}${chunked}\r\n${hex}\r\n${hidden}\r\n0\r\n\r\n`],
  [
    'a body of a HEAD',
    `HEAD /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`,
  ],
  [
    'a body of an OPTIONS',
    `OPTIONS /api/usage/stats HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`,
  ],
  [
    'a body for an unknown route',
    `POST /nowhere HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`,
  ],
  [
    'a body for another method',
    `DELETE /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`,
  ],
  ['a body that is refused by its length', `${post}Content-Length: 4300000\r\n\r\n${hidden.repeat(500)}`],
  [
    'a body after Expect: 100-continue',
    `${post}Expect: 100-continue\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`,
  ],
  ['an unknown expectation', `${post}Expect: nothing\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`],
  [
    'lines that end with a bare line feed',
    `POST /api/usage/stats HTTP/1.1\nHost: localhost\nContent-Length: ${hidden.length}\n\n${hidden}`,
  ],
  [
    'HTTP/1.0 with chunks',
    `${post.replace('HTTP/1.1', 'HTTP/1.0')}Connection: keep-alive\r\n${chunked}\r\n0\r\n\r\n${hidden}`,
  ],
  ['an invalid version', `${post.replace('HTTP/1.1', 'HTTP/1.01')}Content-Length: 0\r\n\r\n${hidden}`],
  ['two hosts', `${post}Host: other\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`],
  [
    'a host with a path',
    `POST /api/usage/stats HTTP/1.1\r\nHost: x/swagger/v2/swagger.json?\r\nContent-Length: 0\r\n\r\n`,
  ],
  [
    'an upgrade to HTTP/2 without TLS',
    `${get}Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\nPRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${hidden}`,
  ],
  [
    'an upgrade to WebSocket',
    `${get}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 777\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n${hidden}`,
  ],
  ['CONNECT', `CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n${hidden}`],
  ['a line break in the path', `GET /healthz?\r HTTP/1.1\r\nHost: localhost\r\n\r\n`],
];

const pseudo = (path: string, method = 'POST'): RawHeader[] => [
  [':method', method],
  [':scheme', 'https'],
  [':path', path],
  [':authority', 'localhost'],
];
const plain = pseudo('/api/usage/stats');
const injected = `x\r\n\r\n${hidden}`;

/** Attempts over HTTP/2: a description, headers and bodies. A proxy converts the headers to lines of HTTP/1.1. */
export const http2Attempts: readonly (readonly [string, readonly RawHeader[], readonly string[]])[] = [
  ['a request in a value', [...plain, ['x', injected]], []],
  ['a request in a value after line feeds', [...plain, ['x', injected.replaceAll('\r', '')]], []],
  ['a header in a value', [...plain, ['x', 'x\r\nTransfer-Encoding: chunked']], [`0\r\n\r\n${hidden}`]],
  ['a header in a name', [...plain, ['x: x\r\ntransfer-encoding', 'chunked']], [`0\r\n\r\n${hidden}`]],
  ['a colon in a name', [...plain, ['transfer-encoding: chunked\r\nx', 'x']], [`0\r\n\r\n${hidden}`]],
  ['a space in a name', [...plain, ['transfer-encoding ', 'chunked']], [`0\r\n\r\n${hidden}`]],
  ['capitals', [...plain, ['Transfer-Encoding', 'chunked']], [`0\r\n\r\n${hidden}`]],
  ['chunks', [...plain, ['transfer-encoding', 'chunked']], [`0\r\n\r\n${hidden}`]],
  [
    'chunks and a length',
    [...plain, ['transfer-encoding', 'chunked'], ['content-length', '5']],
    [`0\r\n\r\n${hidden}`],
  ],
  ['a header of the connection', [...plain, ['connection', 'content-length'], ['content-length', '0']], [hidden]],
  ['a length of 0', [...plain, ['content-length', '0']], [hidden]],
  ['a length of less than the body', [...plain, ['content-length', '2']], ['{}', hidden]],
  ['a length of more than the body', [...plain, ['content-length', String(hidden.length + 100)]], [hidden]],
  ['two lengths', [...plain, ['content-length', '0'], ['content-length', String(hidden.length)]], [hidden]],
  ['two lengths in one', [...plain, ['content-length', `0, ${hidden.length}`]], [hidden]],
  ['a body of a GET', pseudo('/healthz', 'GET'), [hidden]],
  ['a body of a GET without a length', [...pseudo('/healthz', 'GET'), ['content-length', '0']], [hidden]],
  ['a request in the path', pseudo(`/healthz HTTP/1.1\r\nHost: localhost\r\n\r\n${hidden}`, 'GET'), []],
  ['a space in the path', pseudo('/swagger/v2/swagger.json HTTP/1.1\r\nX: ', 'GET'), []],
  [
    'a request in the method',
    pseudo('/healthz', 'GET /swagger/v2/swagger.json HTTP/1.1\r\nHost: localhost\r\n\r\nGET'),
    [],
  ],
  ['a space in the method', pseudo('/healthz', 'GET /swagger/v2/swagger.json?'), []],
  ['a request in the authority', [...plain.slice(0, 3), [':authority', `localhost\r\n\r\n${hidden}`]], []],
  [
    'a path in the authority',
    [...pseudo('/healthz', 'GET').slice(0, 3), [':authority', 'localhost/swagger/v2/swagger.json?']],
    [],
  ],
  ['a request in the scheme', [plain[0]!, [':scheme', `https\r\n\r\n${hidden}`], ...plain.slice(2)], []],
  [
    'a path in the scheme',
    [pseudo('', 'GET')[0]!, [':scheme', 'http://localhost/swagger/v2/swagger.json?'], ...pseudo('/healthz').slice(2)],
    [],
  ],
  ['two paths', [...pseudo('/healthz', 'GET'), [':path', '/swagger/v2/swagger.json']], []],
  ['another host', [...plain, ['host', `other\r\n\r\n${hidden}`]], []],
  ['a NUL in a value', [...plain, ['x', 'x\0\r\nTransfer-Encoding: chunked']], [`0\r\n\r\n${hidden}`]],
  ['an upgrade', [...pseudo('/healthz', 'GET'), ['upgrade', 'h2c'], ['connection', 'upgrade']], []],
];
