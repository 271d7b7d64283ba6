import { createHash, createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { SignatureV4 } from '@smithy/signature-v4';

/** Credentials with which the requests must be signed. */
export interface SigningCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  readonly region: string;
}

/** A request as the server received it. */
export interface ArrivedRequest {
  readonly method: string;
  /** Path and query, exactly as received. */
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

/** SHA-256, or HMAC-SHA-256 if there is a secret, with the interface that AWS's signer expects. */
class Sha256 {
  readonly #hash;

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', secret as Buffer);
  }

  update(data: string | Uint8Array): void {
    this.#hash.update(data);
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }

  reset(): void {
    throw new Error('a hash is used once');
  }
}

/**
 * Signs a received request with AWS's own signer. As AWS's server does, it signs the bytes as received.
 * @returns the `Authorization` header that the request must have
 */
export async function signAgain(
  { method, url, headers, body }: ArrivedRequest,
  signing: SigningCredentials,
): Promise<string> {
  const { region, ...credentials } = signing;
  const [path = '', search = ''] = url.split('?');
  const pairs = search.split('&').filter((pair) => pair !== '');
  const query = pairs.map((pair) => pair.split('=').map(decodeURIComponent) as [string, string]);
  const signed = /SignedHeaders=([^,]+)/.exec(headers.authorization ?? '')?.[1]?.split(';') ?? [];
  const signer = new SignatureV4({ service: 's3', region, credentials, sha256: Sha256, uriEscapePath: false });
  const again = await signer.sign(
    {
      method,
      protocol: 'http:',
      hostname: headers.host!,
      path: path.split('/').map(escaped).join('/'),
      query: Object.fromEntries(query),
      headers: Object.fromEntries(signed.map((name) => [name, String(headers[name])])),
      body,
    },
    { signingDate: parseDate(String(headers['x-amz-date'])) },
  );
  return again.headers['authorization']!;
}

/** Decodes a path segment and escapes it again as AWS does. Escapes in the received segment do not matter. */
function escaped(segment: string): string {
  const hex = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURIComponent(decodeURIComponent(segment)).replace(/[!'()*]/g, hex);
}

function parseDate(text: string): Date {
  return new Date(text.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, '$1-$2-$3T$4:$5:$6Z'));
}

/**
 * Starts a server that checks signatures, and forwards requests to an S3 server that does not check them. It responds
 * to a wrong signature as AWS does.
 * @param behind `HOST:PORT` of the S3 server
 */
export async function startSignatureCheck(behind: string, signing: SigningCredentials) {
  const arrived: ArrivedRequest[] = [];
  const server = createServer(async (incoming, response) => {
    const { method = '', url = '', headers } = incoming;
    const each = { method, url, headers, body: await buffer(incoming) };
    arrived.push(each);
    const digest = createHash('sha256').update(each.body).digest('hex');
    if (headers['x-amz-content-sha256'] !== digest) return refuse(response, 'XAmzContentSHA256Mismatch');
    if (headers.authorization !== (await signAgain(each, signing))) return refuse(response, 'SignatureDoesNotMatch');
    pass(behind, each, response);
  });
  server.listen(0, '127.0.0.1');
  await new Promise((listening) => server.once('listening', listening));
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { endpoint, arrived, close: () => server.close() };
}

function refuse(response: ServerResponse, code: string): void {
  response.writeHead(403).end(`<Error><Code>${code}</Code></Error>`);
}

function pass(behind: string, { method, url, headers, body }: ArrivedRequest, response: ServerResponse): void {
  const [host, port] = behind.split(':');
  request({ host, port, method, path: url, headers }, (answer) => {
    response.writeHead(answer.statusCode!, answer.headers);
    answer.pipe(response);
  })
    .on('error', () => response.destroy())
    .end(body);
}
