import { ApiError } from '../../contract/errors.ts';
import { problem } from '../answer.ts';
import { bindFailure, freePort } from '../bind-failure.ts';
import { commonHeaders, requestIdHeader } from '../request-ids.ts';
import { cipherSuites, readTls } from '../tls.ts';
import {
  type AddressOf,
  type ByteBudget,
  ClientGone,
  type HttpEngine,
  type ListenOptions,
  type Pieces,
  type Reply,
  type Request,
} from '../types.ts';
import { framingFault, isPlainPath, resolvable, wasPlainPath } from './head.ts';
import { type Arriving, BodyDeadlines, briefBody, Charge, linger, tooLarge, tooSlow } from './limits.ts';
import { type EveryReply, headersOfEveryReply, KeptReplies, withHeaders } from './reply-headers.ts';

/**
 * `Bun.serve`. It answers `Expect: 100-continue` itself, pauses the sender of a body until the handler reads it, and answers
 * 431 to a head over 16 KiB.
 */
export const bunEngine: HttpEngine = {
  name: 'bun',
  async listen(options) {
    const { addressOf = (connected) => connected, secondMs, headers } = options;
    const every = headersOfEveryReply(headers);
    const deadlines = new BodyDeadlines(secondMs);
    const life = { closing: false, deadlines, addressOf, every, kept: new KeptReplies(every) };
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
  readonly every: EveryReply;
  readonly kept: KeptReplies;
}

async function serve(
  { host, port, tls, isShared, joins, dispatch, busyPaths = [] }: ListenOptions,
  life: Shared & Life,
): Promise<Server> {
  const pair = tls && readTls(tls);
  const reusePort = tls !== undefined || isShared === true || joins === true;
  const own = reusePort && joins !== true ? await freePort(host, port) : port;
  const answer: Answer = (raw, server, path) => {
    const request = new BunRequest(raw, server, path ?? '', life);
    const fault = path === undefined ? resolvable : request.fault();
    if (fault !== undefined) return respond(request, problem(fault), life, true);
    const reply = dispatch(request);
    return reply instanceof Promise
      ? reply.then((late) => respond(request, late, life))
      : respond(request, reply, life);
  };
  try {
    return Bun.serve({
      hostname: host,
      port: own,
      ...(pair && { tls: { ...pair, ciphers: cipherSuites } }),
      development: false,
      // Outside development mode Bun would share the port with any other listener. With TLS it must be shared: renewed files
      // need a new listener on the same port, because `reload` ignores `tls`.
      reusePort,
      // We enforce both limits: Bun would answer 413 without a body, or not at all.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      // Within this time Bun requires 16 kB a second or the end of the body. At 4 kB/s, 48 KiB arrive in 30 s.
      idleTimeout: 30,
      routes: routesFor(busyPaths, answer),
      fetch: (raw, server) => answer(raw as RawRequest, server, strayPath((raw as RawRequest).url)),
      error: () => new Response(null, { status: 500, headers: life.every }),
    });
  } catch (error) {
    throw await bindFailure(host, port, error as Error);
  }
}

/** Bun closes idle connections at once, and each busy one after its reply. */
async function stop(server: Server, graceMs: number): Promise<void> {
  const cut = setTimeout(() => server.stop(true), graceMs);
  await server.stop();
  clearTimeout(cut);
}

/** @param closing tells the client that the connection will be closed */
function respond(request: BunRequest, answer: Reply, life: Life, closing = life.closing): Response {
  if (!closing && request.refused === undefined) {
    if (answer.isReused) return new Response(answer.body as Uint8Array<ArrayBuffer>, life.kept.of(answer));
    const common = commonHeaders(answer.headers);
    if (common !== undefined && answer.cookies === undefined && answer.pieces === undefined)
      return respondWith(answer, life.kept.headersOf(common));
  }
  const reply = withHeaders(answer, life.every);
  if (request.refused !== undefined) return respondAndClose(reply, request.refused, life.deadlines);
  if (reply.pieces !== undefined) return respondInPieces(request, reply, reply.pieces, closing);
  const sent = closing ? withHeaders(reply, { connection: 'close' }) : reply;
  const headers = sent.cookies === undefined ? sent.headers : withCookies(sent);
  return new Response(sent.body as Uint8Array<ArrayBuffer>, { status: sent.status, headers } as ResponseInit);
}

/** Bun copies `Headers` in less than half the time of an object. @param headers of many replies, without the request id */
function respondWith({ status, headers, body }: Reply, common: Headers): Response {
  const response = new Response(body as Uint8Array<ArrayBuffer>, { status, headers: common });
  response.headers.set(requestIdHeader, headers![requestIdHeader]!);
  return response;
}

/** Bun pulls a chunk when the socket has room, and closes a connection that is idle for its timeout. */
function respondInPieces({ method }: BunRequest, reply: Reply, pieces: Pieces, closing: boolean): Response {
  const headers = withCookies(reply);
  if (closing) headers.set('connection', 'close');
  if (method === 'HEAD') {
    pieces.stop();
    return new Response(null, { status: reply.status, headers });
  }
  const source = {
    async pull(controller: ReadableStreamDefaultController<Uint8Array>) {
      try {
        const piece = await pieces.next();
        if (piece !== undefined) return controller.enqueue(piece);
        pieces.stop();
        controller.close();
      } catch {
        pieces.stop();
        controller.error(undefined); // Bun resets the connection; it would print an error.
      }
    },
    cancel: () => pieces.stop(),
  };
  return new Response(new ReadableStream(source, { highWaterMark: 0 }), { status: reply.status, headers });
}

function withCookies({ headers, cookies = [] }: Reply): Headers {
  const all = new Headers(headers);
  for (const cookie of cookies) all.append('set-cookie', cookie);
  return all;
}

/** Sends the whole reply at once, and ends it when the client has stopped sending. Closing then does not reset the connection. */
function respondAndClose(reply: Reply, rest: BodyReader, deadlines: BodyDeadlines): Response {
  const { status, body } = reply;
  const headers = withCookies(reply);
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
    // The client disconnected.
  }
  deadlines.end(arriving);
  stop();
}

/** @param path `undefined` if Bun has resolved it to another path than the one sent */
type Answer = (raw: RawRequest, server: Server, path: string | undefined) => Response | Promise<Response>;

/** More than any route has; Bun has no pattern for any number of segments. */
const maxSegments = 12;

/**
 * Bun resolves `\`, `.` and `..` in the URL that a handler receives, but matches its routes first. The match therefore reveals
 * the path as sent. A fixed route matches only its own path, and a pattern captures the path in its parameters.
 */
function routesFor(fixed: readonly string[], answer: Answer) {
  const routes: Record<string, (raw: Bun.BunRequest, server: Server) => Response | Promise<Response>> = {};
  for (const path of ['/', ...fixed]) routes[path] = (raw, server) => answer(asRaw(raw), server, path);
  let pattern = '';
  for (let segment = 1; segment <= maxSegments; segment += 1) {
    pattern += `/:s${segment}`;
    routes[pattern] = (raw, server) => answer(asRaw(raw), server, sentPath(asRaw(raw)));
  }
  return routes;
}

const asRaw = (raw: unknown) => raw as RawRequest;

/** @returns `undefined` if the URL's path is not the one sent */
function sentPath({ url, params }: RawRequest): string | undefined {
  const path = pathOf(url);
  return wasPlainPath(path, Object.values(params)) ? path : undefined;
}

/** The path of a URL without a matching pattern. `undefined` if Bun has resolved it. */
function strayPath(url: string): string | undefined {
  const path = pathOf(url);
  const stray = path.includes('//') || path.endsWith('/') || path.split('/').length > maxSegments + 1;
  return stray && isPlainPath(path) ? path : undefined;
}

function pathOf(url: string): string {
  const mark = url.indexOf('?');
  return url.slice(pathStart(url), mark < 0 ? url.length : mark);
}

/** Without a usable Host header Bun returns only the path. `new URL` would cost more than everything else here. */
function pathStart(url: string): number {
  return url.startsWith('/') ? 0 : url.indexOf('/', 'https://'.length);
}

type Server = Bun.Server<undefined>;
type RawRequest = globalThis.Request & { bytes(): Promise<Uint8Array>; params: Record<string, string> };
type BodyReader = ReadableStreamDefaultReader<Uint8Array>;

interface Shared {
  readonly deadlines: BodyDeadlines;
  readonly addressOf: AddressOf;
}

class BunRequest implements Request {
  readonly method: string;
  readonly path: string;
  /** The rest of a refused body. */
  refused: BodyReader | undefined = undefined;
  readonly #raw: RawRequest;
  readonly #headers: Headers;
  readonly #server: Server;
  readonly #shared: Shared;
  readonly #contentLength: string | undefined;

  constructor(raw: RawRequest, server: Server, path: string, shared: Shared) {
    this.#shared = shared;
    this.#raw = raw;
    this.#headers = raw.headers;
    this.#server = server;
    this.method = raw.method;
    this.path = path;
    this.#contentLength = this.header('content-length');
  }

  /** Bun accepts some heads that proxies may read differently. */
  fault(): ApiError | undefined {
    return framingFault({ host: this.header('host'), contentLength: this.#contentLength });
  }

  get query(): string {
    const { url } = this.#raw;
    const mark = url.indexOf('?');
    return mark < 0 ? '' : url.slice(mark + 1);
  }

  get remoteAddress(): string {
    const connected = this.#server.requestIP(this.#raw)?.address;
    return connected === undefined ? '' : this.#shared.addressOf(connected, this);
  }

  header(name: string): string | undefined {
    return this.#headers.get(name) ?? undefined;
  }

  headers(): Iterable<readonly [string, string]> {
    return this.#headers;
  }

  body(limit: number, budget?: ByteBudget): Promise<Uint8Array> {
    const declared = this.#contentLength === undefined ? undefined : Number(this.#contentLength);
    if (declared === undefined && this.#headers.has('transfer-encoding')) return this.#readPieces(limit, budget);
    if (declared !== undefined && !(declared <= limit)) {
      this.refused = this.#reader();
      return Promise.reject(tooLarge(limit));
    }
    const brief = budget === undefined ? briefBody : Math.min(briefBody, budget.free);
    return declared !== undefined && declared > brief ? this.#readPieces(limit, budget) : this.#raw.bytes().catch(gone);
  }

  /** Reads a body of unknown length, or one for which a slow but honest client may need more than Bun's idle timeout. */
  async #readPieces(limit: number, budget: ByteBudget | undefined): Promise<Uint8Array> {
    const reader = this.#reader();
    if (reader === undefined) return new Uint8Array();
    let giveUp = () => {};
    const tooLong = new Promise<never>((_, reject) => {
      giveUp = () => reject(tooSlow());
    });
    tooLong.catch(() => {}); // It may reject after the body has ended.
    const arriving = { received: 0, giveUp };
    const charge = new Charge(budget);
    this.#shared.deadlines.begin(arriving);
    try {
      const body = await collect(reader, limit, arriving, tooLong, charge);
      charge.handOver();
      return body;
    } catch (error) {
      charge.giveBack();
      if (error instanceof ApiError) this.refused = reader;
      throw error;
    } finally {
      this.#shared.deadlines.end(arriving);
    }
  }

  /** The body, whose time `BodyDeadlines` limits instead of Bun. */
  #reader(): BodyReader | undefined {
    this.#server.timeout(this.#raw as unknown as Bun.BunRequest, 0);
    return this.#raw.body?.getReader() as BodyReader | undefined;
  }
}

async function collect(
  reader: BodyReader,
  limit: number,
  arriving: Arriving,
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

/** Reading fails only when the connection does. */
function gone(): never {
  throw new ClientGone();
}
