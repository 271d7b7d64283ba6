import { readFileSync } from 'node:fs';
import { connect as connectHttp2 } from 'node:http2';
import { type Agent, request } from 'node:https';
import { connect as connectTls } from 'node:tls';
import { Client, credentials } from '@grpc/grpc-js';
import { call } from './grpc-call.ts';

/** Certificate of the authority for all servers and proxies in tests. */
const ca = readFileSync(new URL('../http/support/tls/cert.pem', import.meta.url));

/** The response to a request through a proxy. */
export interface ProxyResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

export interface RequestOptions {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | Buffer;
  /** IP address of the client, in 127.0.0.0/8. */
  readonly localAddress?: string;
  /** Agent that keeps connections open. By default, each request has its own connection. */
  readonly agent?: Agent;
}

/** Sends a request over HTTP/1.1, as older servers do. */
export function byHttp1(port: number, path: string, { body, ...options }: RequestOptions): Promise<ProxyResponse> {
  return new Promise((resolve, reject) => {
    const sent = request(
      { host: '127.0.0.1', servername: 'localhost', port, path, ca, agent: false, ...options },
      (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
        });
        answer.once('end', () => resolve({ status: answer.statusCode!, headers: answer.headers, body: text }));
      },
    );
    sent.once('error', reject);
    sent.end(body);
  });
}

/** Sends a request over HTTP/2, as browsers do. */
export function byHttp2(
  port: number,
  path: string,
  { method = 'GET', headers, body, localAddress }: RequestOptions,
): Promise<ProxyResponse> {
  return new Promise((resolve, reject) => {
    const from = localAddress === undefined ? {} : { localAddress };
    const session = connectHttp2(`https://127.0.0.1:${port}`, { ca, servername: 'localhost', ...from });
    session.once('error', reject);
    const stream = session.request({ ':method': method, ':path': path, ...headers });
    let answered: ProxyResponse['headers'] = {};
    let text = '';
    stream.once('response', (head) => {
      answered = head as ProxyResponse['headers'];
    });
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    stream.once('error', reject);
    stream.once('close', () => {
      session.close();
      resolve({ status: Number(answered[':status']), headers: answered, body: text });
    });
    stream.end(body);
  });
}

/** Returns the protocol that a server selects from the offered protocols. */
export function alpn(port: number, offered: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connectTls({ host: 'localhost', port, ca, ALPNProtocols: offered }, () => {
      resolve(String(socket.alpnProtocol));
      socket.destroy();
    });
    socket.once('error', reject);
  });
}

export async function byGrpc(port: number, path: string, message: Buffer) {
  const client = new Client(`localhost:${port}`, credentials.createSsl(ca));
  try {
    return await call(client, path, message);
  } finally {
    client.close();
  }
}
