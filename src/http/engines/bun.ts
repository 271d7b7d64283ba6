import { Refusal } from '../../errors.ts';
import { bindFailure, freePort } from '../bind-failure.ts';
import { problem } from '../problem.ts';
import { readTls } from '../tls.ts';
import {
  type ByteBudget,
  ClientGone,
  type Engine,
  type ListenOptions,
  type Reply,
  type Request,
} from '../types.ts';
import { type Arriving, BodyDeadlines } from './body-deadlines.ts';
import { tooLarge, tooSlow } from './body-refusals.ts';
import { Charge } from './charge.ts';
import { framingFault } from './head.ts';
import { briefBody, linger } from './limits.ts';
import { isPlainPath, resolvable, wasPlainPath } from './plain-path.ts';

/**
 * `Bun.serve`. It answers `Expect: 100-continue` by itself, holds back the sender of a body that nobody reads yet, and
 * gives 431 for a head over 16 KiB.
 */
export const bunEngine: Engine = {
  name: 'bun',
  async listen(options) {
    const life = { closing: false, deadlines: new BodyDeadlines(options.secondMs) };
    const server = await serve(options, life);
    const close = (graceMs: number) => {
      life.closing = true;
      return stop(server, graceMs).finally(() => life.deadlines.close());
    };
    return { host: options.host, port: server.port!, close };
  },
};

type Server = Bun.Server<undefined>;
/** The types of Node and Bun do not agree on what a request has. */
type RawRequest = globalThis.Request & { bytes(): Promise<Uint8Array>; params: Record<string, string> };
type Answer = (raw: RawRequest, server: Server, path: string | undefined) => Response | Promise<Response>;
type BodyReader = ReadableStreamDefaultReader<Uint8Array>;

/** @param life what becomes of the server while it answers */
async function serve(
  { host, port, tls, takesOver, dispatch, busyPaths = [] }: ListenOptions,
  life: { readonly closing: boolean; readonly deadlines: BodyDeadlines },
): Promise<Server> {
  const pair = tls && readTls(tls);
  const own = tls !== undefined && takesOver !== true ? await freePort(host, port) : port;
  const answer: Answer = (raw, server, path) => {
    const request = new BunRequest(raw, server, path ?? '', life.deadlines);
    const fault = path === undefined ? resolvable : request.fault();
    if (fault !== undefined) return respond(request, problem(fault), true);
    const reply = dispatch(request);
    return reply instanceof Promise
      ? reply.then((late) => respond(request, late, life.closing))
      : respond(request, reply, life.closing);
  };
  try {
    return Bun.serve({
      hostname: host,
      port: own,
      ...(pair && { tls: pair }),
      development: false,
      // Outside of development Bun would share the port with any other listener. With TLS it must be shared by the
      // listener that takes over when the files are read again: `reload` does not take them.
      reusePort: tls !== undefined,
      // Both limits are ours: Bun would answer 413 without a body, or not at all.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      // Bun wants 16 kB a second over this time, or the end of the body: 30 s let 48 KiB through at 4 kB/s.
      idleTimeout: 30,
      routes: routesFor(busyPaths, answer),
      fetch: (raw, server) => answer(raw as RawRequest, server, strayPath((raw as RawRequest).url)),
      error: () => new Response(null, { status: 500 }),
    });
  } catch (error) {
    throw await bindFailure(host, port, error as Error);
  }
}

/** Bun closes idle connections at once and the others after their answer. */
async function stop(server: Server, graceMs: number): Promise<void> {
  const cut = setTimeout(() => server.stop(true), graceMs);
  await server.stop();
  clearTimeout(cut);
}

/** No route has as many segments; Bun has no pattern for any number of them. */
const maxSegments = 12;

/**
 * Bun resolves `\`, `.` and `..` in the URL that a handler sees. Its routes are matched before, so they tell what was sent:
 * the fixed ones as they are, the others by their parameters.
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

/** @returns `undefined` when it is not what was sent */
function sentPath({ url, params }: RawRequest): string | undefined {
  const path = pathOf(url);
  return wasPlainPath(path, Object.values(params)) ? path : undefined;
}

/** The path of a URL that no pattern is for: it has an empty segment, or too many of them, unless it was resolved. */
function strayPath(url: string): string | undefined {
  const path = pathOf(url);
  const stray = path.includes('//') || path.endsWith('/') || path.split('/').length > maxSegments + 1;
  return stray && isPlainPath(path) ? path : undefined;
}

function pathOf(url: string): string {
  const mark = url.indexOf('?');
  return url.slice(pathStart(url), mark < 0 ? url.length : mark);
}

/** Without a usable Host header Bun gives the path alone. `new URL` would cost more than all the rest here. */
function pathStart(url: string): number {
  return url.startsWith('/') ? 0 : url.indexOf('/', 'https://'.length);
}

class BunRequest implements Request {
  readonly method: string;
  readonly path: string;
  /** What is left of a body that was refused as too large. */
  refused: BodyReader | undefined = undefined;
  readonly #raw: RawRequest;
  readonly #server: Server;
  readonly #deadlines: BodyDeadlines;

  constructor(raw: RawRequest, server: Server, path: string, deadlines: BodyDeadlines) {
    this.#deadlines = deadlines;
    this.#raw = raw;
    this.#server = server;
    this.method = raw.method;
    this.path = path;
  }

  /** Bun has refused what cannot be framed, but not what can be framed in spite of itself. */
  fault(): Refusal | undefined {
    return framingFault({ host: this.header('host'), contentLength: this.header('content-length') });
  }

  get query(): string {
    const { url } = this.#raw;
    const mark = url.indexOf('?');
    return mark < 0 ? '' : url.slice(mark + 1);
  }

  get remoteAddress(): string {
    return this.#server.requestIP(this.#raw)?.address ?? '';
  }

  header(name: string): string | undefined {
    return this.#raw.headers.get(name) ?? undefined;
  }

  body(limit: number, budget?: ByteBudget): Promise<Uint8Array> {
    const { headers } = this.#raw;
    const declared = headers.get('content-length');
    if (declared === null && headers.has('transfer-encoding')) return this.#readPieces(limit, budget);
    if (declared !== null && !(Number(declared) <= limit)) {
      this.refused = this.#reader();
      return Promise.reject(tooLarge(limit));
    }
    const brief = budget === undefined ? briefBody : Math.min(briefBody, budget.free);
    return Number(declared) > brief ? this.#readPieces(limit, budget) : this.#raw.bytes().catch(gone);
  }

  /** Reads a body of unknown length, or one that a slow but honest client needs longer for than Bun's idle timeout. */
  async #readPieces(limit: number, budget: ByteBudget | undefined): Promise<Uint8Array> {
    const reader = this.#reader();
    if (reader === undefined) return new Uint8Array();
    this.#server.timeout(this.#raw as unknown as Bun.BunRequest, 0);
    let giveUp = () => {};
    const tooLong = new Promise<never>((_, reject) => {
      giveUp = () => reject(tooSlow());
    });
    tooLong.catch(() => {}); // It may reject after the body has ended.
    const arriving = { received: 0, giveUp };
    const charge = new Charge(budget);
    this.#deadlines.begin(arriving);
    try {
      const body = await collect(reader, limit, arriving, tooLong, charge);
      charge.handOver();
      return body;
    } catch (error) {
      charge.giveBack();
      if (error instanceof Refusal) this.refused = reader;
      throw error;
    } finally {
      this.#deadlines.end(arriving);
    }
  }

  #reader(): BodyReader | undefined {
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

/** @param closing the server is: the client is told that its connection is not kept */
function respond(request: BunRequest, reply: Reply, closing: boolean): Response {
  if (request.refused !== undefined) return respondAndClose(reply, request.refused);
  if (closing) reply = { ...reply, headers: { ...reply.headers, connection: 'close' } };
  return new Response(reply.body as Uint8Array<ArrayBuffer>, reply as ResponseInit);
}

/** Sends the whole reply at once, and its end when the client has stopped sending, so that closing does not reset. */
function respondAndClose({ status, headers, body }: Reply, rest: BodyReader): Response {
  const drained = drain(rest);
  const stream = new ReadableStream({
    start: (controller) => body && controller.enqueue(typeof body === 'string' ? Buffer.from(body) : body),
    pull: (controller) => drained.then(() => controller.close()),
  });
  return new Response(stream, { status, headers: { ...headers, connection: 'close' } });
}

async function drain(rest: BodyReader): Promise<void> {
  const stop = () => void rest.cancel().catch(() => {});
  const late = setTimeout(stop, linger.milliseconds);
  try {
    for (let length = 0; length <= linger.bytes; ) {
      const { done, value } = await rest.read();
      if (done) break;
      length += value.length;
    }
  } catch {
    // The client went away: nothing is left to read.
  }
  clearTimeout(late);
  stop();
}
