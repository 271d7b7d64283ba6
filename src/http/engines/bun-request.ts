import { ApiError } from '../../contract/errors.ts';
import { type AddressOf, type ByteBudget, ClientGone, type Request } from '../types.ts';
import { framingFault } from './head.ts';
import { type Arriving, type BodyDeadlines, briefBody, Charge, tooLarge, tooSlow } from './limits.ts';

export type Server = Bun.Server<undefined>;
export type RawRequest = globalThis.Request & {
  bytes(): Promise<Uint8Array>;
  params: Record<string, string>;
};
export type BodyReader = ReadableStreamDefaultReader<Uint8Array>;

export interface Shared {
  readonly deadlines: BodyDeadlines;
  readonly addressOf: AddressOf;
}

/** A request whose head Bun has parsed. */
export class BunRequest implements Request {
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

  /** Bun refuses a head without a clear end, but accepts some that proxies may read differently. */
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
    if (declared === undefined && this.#headers.has('transfer-encoding'))
      return this.#readPieces(limit, budget);
    if (declared !== undefined && !(declared <= limit)) {
      this.refused = this.#reader();
      return Promise.reject(tooLarge(limit));
    }
    const brief = budget === undefined ? briefBody : Math.min(briefBody, budget.free);
    return declared !== undefined && declared > brief
      ? this.#readPieces(limit, budget)
      : this.#raw.bytes().catch(gone);
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
