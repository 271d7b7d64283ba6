import { Refusal } from '../../contract/errors.ts';
import { bindFailure, freePort } from '../bind-failure.ts';
import { commonHeaders, requestIdHeader } from '../request-ids.ts';
import { problem } from '../responses.ts';
import { cipherSuites, readTls } from '../tls.ts';
import {
  type AddressFinder,
  type BodyChunks,
  type ByteBudget,
  DisconnectError,
  type HttpEngine,
  type HttpResponse,
  type ListenOptions,
  type Request,
} from '../types.ts';
import { framingFault, isPlainPath, resolvable, wasPlainPath } from './head.ts';
import { type ArrivingBody, BodyDeadlines, briefBody, Charge, linger, tooLarge, tooSlow } from './limits.ts';
import { type DefaultHeaders, defaultHeaders, ResponseCache, withHeaders } from './response-headers.ts';

/**
 * The HTTP engine `Bun.serve`. It handles `Expect: 100-continue` itself, pauses the sender of a body until the handler
 * reads it, and responds with 431 to a head over 16 KiB.
 */
export const bunEngine: HttpEngine = {
  name: 'bun',
  async listen(options) {
    const { findAddress = (connected) => connected, secondMs, headers } = options;
    const every = defaultHeaders(headers);
    const deadlines = new BodyDeadlines(secondMs);
    const life = { closing: false, deadlines, findAddress, every, kept: new ResponseCache(every) };
    const server = await serve(options, life);
    const close = (graceMs: number) => {
      life.closing = true;
      return stop(server, graceMs).finally(() => life.deadlines.close());
    };
    return { host: options.host, port: server.port!, close };
  },
};

interface Life {
  readonly deadlines: BodyDeadlines;
  readonly closing: boolean;
  readonly every: DefaultHeaders;
  readonly kept: ResponseCache;
}

async function serve(
  { host, port, tls, isShared, joins, dispatch, busyPaths = [] }: ListenOptions,
  life: SharedState & Life,
): Promise<Server> {
  const pair = tls && readTls(tls);
  const reusePort = tls !== undefined || isShared === true || joins === true;
  const own = reusePort && joins !== true ? await freePort(host, port) : port;
  const handle: RawHandler = (raw, server, path) => {
    const request = new BunRequest(raw, server, path ?? '', life);
    const fault = path === undefined ? resolvable : request.fault();
    if (fault !== undefined) return respond(request, problem(fault), life, true);
    const response = dispatch(request);
    return response instanceof Promise
      ? response.then((late) => respond(request, late, life))
      : respond(request, response, life);
  };
  try {
    return Bun.serve({
      hostname: host,
      port: own,
      ...(pair && { tls: { ...pair, ciphers: cipherSuites } }),
      development: false,
      // `false` keeps the port exclusive. A port with TLS is always shared. Bun's `reload` ignores renewed TLS files,
      // so a renewal opens a second listener on the port.
      reusePort,
      // This engine enforces the size limit itself. Bun would respond with 413 without a body, or not at all.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      // Bun closes connections that, in 30 s, neither complete the body nor send at 16 kB a second.
      idleTimeout: 30,
      routes: routesFor(busyPaths, handle),
      fetch: (raw, server) => handle(raw as RawRequest, server, strayPath((raw as RawRequest).url)),
      error: () => new Response(null, { status: 500, headers: life.every }),
    });
  } catch (error) {
    throw await bindFailure(host, port, error as Error);
  }
}

/** Stops the server. Bun closes idle connections immediately, and a busy connection after its response. */
async function stop(server: Server, graceMs: number): Promise<void> {
  const cut = setTimeout(() => server.stop(true), graceMs);
  await server.stop();
  clearTimeout(cut);
}

/** @param closing true if the response announces that the connection will be closed */
function respond(request: BunRequest, plain: HttpResponse, life: Life, closing = life.closing): Response {
  if (!closing && request.refused === undefined) {
    if (plain.isReused) return new Response(plain.body as Uint8Array<ArrayBuffer>, life.kept.of(plain));
    const common = commonHeaders(plain.headers);
    if (common !== undefined && plain.cookies === undefined && plain.chunks === undefined)
      return respondWith(plain, life.kept.getHeaders(common));
  }
  const response = withHeaders(plain, life.every);
  if (request.refused !== undefined) return respondAndClose(response, request.refused, life.deadlines);
  if (response.chunks !== undefined) return respondInChunks(request, response, response.chunks, closing);
  const sent = closing ? withHeaders(response, { connection: 'close' }) : response;
  const headers = sent.cookies === undefined ? sent.headers : withCookies(sent);
  return new Response(sent.body as Uint8Array<ArrayBuffer>, { status: sent.status, headers } as ResponseInit);
}

/** Adds the request id to shared headers. Bun copies `Headers` in less than half the time of an object. */
function respondWith({ status, headers, body }: HttpResponse, common: Headers): Response {
  const response = new Response(body as Uint8Array<ArrayBuffer>, { status, headers: common });
  response.headers.set(requestIdHeader, headers![requestIdHeader]!);
  return response;
}

/** Responds in chunks. Bun pulls a chunk when the socket has room. After its idle timeout, it closes the connection. */
function respondInChunks(
  { method }: BunRequest,
  response: HttpResponse,
  chunks: BodyChunks,
  closing: boolean,
): Response {
  const headers = withCookies(response);
  if (closing) headers.set('connection', 'close');
  if (method === 'HEAD') {
    chunks.stop();
    return new Response(null, { status: response.status, headers });
  }
  const source = {
    async pull(controller: ReadableStreamDefaultController<Uint8Array>) {
      try {
        const chunk = await chunks.next();
        if (chunk !== undefined) return controller.enqueue(chunk);
        chunks.stop();
        controller.close();
      } catch {
        chunks.stop();
        controller.error(undefined); // Bun resets the connection. It would print any value other than `undefined` as an error.
      }
    },
    cancel: () => chunks.stop(),
  };
  return new Response(new ReadableStream(source, { highWaterMark: 0 }), { status: response.status, headers });
}

function withCookies({ headers, cookies = [] }: HttpResponse): Headers {
  const all = new Headers(headers);
  for (const cookie of cookies) all.append('set-cookie', cookie);
  return all;
}

/** Sends the whole response. To avoid a reset, closes the connection only when the client has stopped sending. */
function respondAndClose(response: HttpResponse, rest: BodyReader, deadlines: BodyDeadlines): Response {
  const { status, body } = response;
  const headers = withCookies(response);
  headers.set('connection', 'close');
  const drained = drain(rest, deadlines);
  const stream = new ReadableStream({
    start: (controller) => body && controller.enqueue(typeof body === 'string' ? Buffer.from(body) : body),
    pull: (controller) => drained.then(() => controller.close()),
  });
  return new Response(stream, { status, headers });
}

async function drain(rest: BodyReader, deadlines: BodyDeadlines): Promise<void> {
  const stop = () => void rest.cancel().catch(() => {});
  const arriving = { received: 0, isRefused: true, giveUp: stop };
  deadlines.begin(arriving);
  try {
    for (let length = 0; length <= linger.bytes; ) {
      const { done, value } = await rest.read();
      if (done) break;
      length += value.length;
      arriving.received += value.length;
    }
  } catch {
    // Reading ends, because the client has disconnected.
  }
  deadlines.end(arriving);
  stop();
}

/** @param path path as sent; `undefined` if Bun has resolved it to another path */
type RawHandler = (raw: RawRequest, server: Server, path: string | undefined) => Response | Promise<Response>;

/** Maximum number of segments of a pattern, more than any route has. Bun's patterns have a fixed number of segments. */
const maxSegments = 12;

/**
 * Returns Bun routes that call the handler with the path as sent. Bun resolves `\`, `.` and `..` in the URL for the
 * handler, but matches routes against the sent path. The matching route therefore reveals the sent path: a fixed route
 * is the path, and a pattern captures its segments as parameters.
 */
function routesFor(fixed: readonly string[], handle: RawHandler) {
  const routes: Record<string, (raw: Bun.BunRequest, server: Server) => Response | Promise<Response>> = {};
  for (const path of ['/', ...fixed]) routes[path] = (raw, server) => handle(asRaw(raw), server, path);
  let pattern = '';
  for (let segment = 1; segment <= maxSegments; segment += 1) {
    pattern += `/:s${segment}`;
    routes[pattern] = (raw, server) => handle(asRaw(raw), server, sentPath(asRaw(raw)));
  }
  return routes;
}

const asRaw = (raw: unknown) => raw as RawRequest;

/** Returns the path as sent; `undefined` if Bun has changed it, as it does for a path that is not plain. */
function sentPath({ url, params }: RawRequest): string | undefined {
  const path = readPath(url);
  return wasPlainPath(path, Object.values(params)) ? path : undefined;
}

/** Returns the path of a URL that matches no pattern; `undefined` if Bun has resolved the path. */
function strayPath(url: string): string | undefined {
  const path = readPath(url);
  const stray = path.includes('//') || path.endsWith('/') || path.split('/').length > maxSegments + 1;
  return stray && isPlainPath(path) ? path : undefined;
}

function readPath(url: string): string {
  const queryAt = url.indexOf('?');
  return url.slice(pathStart(url), queryAt < 0 ? url.length : queryAt);
}

/** Returns the position of the path in a URL. If the Host header is unusable, Bun's URL is only a path. */
function pathStart(url: string): number {
  return url.startsWith('/') ? 0 : url.indexOf('/', 'https://'.length);
}

type Server = Bun.Server<undefined>;
type RawRequest = globalThis.Request & { bytes(): Promise<Uint8Array>; params: Record<string, string> };
type BodyReader = ReadableStreamDefaultReader<Uint8Array>;

interface SharedState {
  readonly deadlines: BodyDeadlines;
  readonly findAddress: AddressFinder;
}

class BunRequest implements Request {
  readonly method: string;
  readonly path: string;
  /** Unread rest of a refused body. */
  refused: BodyReader | undefined = undefined;
  readonly #raw: RawRequest;
  readonly #headers: Headers;
  readonly #server: Server;
  readonly #shared: SharedState;
  readonly #contentLength: string | undefined;

  constructor(raw: RawRequest, server: Server, path: string, shared: SharedState) {
    this.#shared = shared;
    this.#raw = raw;
    this.#headers = raw.headers;
    this.#server = server;
    this.method = raw.method;
    this.path = path;
    this.#contentLength = this.header('content-length');
  }

  /** Returns the refusal of a head that Bun accepts, but a proxy could read differently. */
  fault(): Refusal | undefined {
    return framingFault({ host: this.header('host'), contentLength: this.#contentLength });
  }

  get query(): string {
    const { url } = this.#raw;
    const queryAt = url.indexOf('?');
    return queryAt < 0 ? '' : url.slice(queryAt + 1);
  }

  get remoteAddress(): string {
    const connected = this.#server.requestIP(this.#raw)?.address;
    return connected === undefined ? '' : this.#shared.findAddress(connected, this);
  }

  header(name: string): string | undefined {
    return this.#headers.get(name) ?? undefined;
  }

  headers(): Iterable<readonly [string, string]> {
    return this.#headers;
  }

  body(limit: number, budget?: ByteBudget): Promise<Uint8Array> {
    const declared = this.#contentLength === undefined ? undefined : Number(this.#contentLength);
    if (declared === undefined && this.#headers.has('transfer-encoding')) return this.#readChunks(limit, budget);
    if (declared !== undefined && !(declared <= limit)) {
      this.refused = this.#reader();
      return Promise.reject(tooLarge(limit));
    }
    const brief = budget === undefined ? briefBody : Math.min(briefBody, budget.free);
    return declared !== undefined && declared > brief ? this.#readChunks(limit, budget) : this.#raw.bytes().catch(gone);
  }

  /** Reads a body in chunks, because Bun's idle timeout could end the slow but legitimate upload of a long body. */
  async #readChunks(limit: number, budget: ByteBudget | undefined): Promise<Uint8Array> {
    const reader = this.#reader();
    if (reader === undefined) return new Uint8Array();
    let giveUp = () => {};
    const tooLong = new Promise<never>((_, reject) => {
      giveUp = () => reject(tooSlow());
    });
    tooLong.catch(() => {}); // The promise can reject after the body has ended.
    const arriving = { received: 0, giveUp };
    const charge = new Charge(budget);
    this.#shared.deadlines.begin(arriving);
    try {
      const body = await collect(reader, limit, arriving, tooLong, charge);
      charge.handOver();
      return body;
    } catch (error) {
      charge.giveBack();
      if (error instanceof Refusal) this.refused = reader;
      throw error;
    } finally {
      this.#shared.deadlines.end(arriving);
    }
  }

  /** Returns the reader of the body. `BodyDeadlines` replaces Bun's timeout. */
  #reader(): BodyReader | undefined {
    this.#server.timeout(this.#raw as unknown as Bun.BunRequest, 0);
    return this.#raw.body?.getReader() as BodyReader | undefined;
  }
}

async function collect(
  reader: BodyReader,
  limit: number,
  arriving: ArrivingBody,
  tooLong: Promise<never>,
  charge: Charge,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for (;;) {
    const { done, value } = await Promise.race([reader.read().catch(gone), tooLong]);
    if (done) break;
    arriving.received += value.length;
    if (arriving.received > limit) throw tooLarge(limit);
    charge.growTo(arriving.received);
    chunks.push(value);
  }
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, arriving.received);
}

/** Reports a failed read as a disconnected client. */
function gone(): never {
  throw new DisconnectError();
}
