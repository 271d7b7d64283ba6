import type { Request } from './types.ts';

type Values = Readonly<Record<string, string>>;

const shared = new WeakSet<Values>();

/** Declares constant headers that many responses share. HTTP engines can cache data derived from these headers. */
export function sharedHeaders<const Own extends Values>(headers: Own): Own {
  shared.add(Object.freeze(headers));
  return headers;
}

/** Shared headers with the id of one request. A copy made by spreading is an ordinary object, without `#common`. */
class NamedHeaders {
  [name: string]: string;
  readonly #common: Values;

  constructor(common: Values, requestId: string) {
    Object.assign(this, common);
    this[requestIdHeader] = requestId;
    this.#common = common;
  }

  static findCommon(headers: object): Values | undefined {
    return #common in headers ? headers.#common : undefined;
  }
}

export function withRequestId(headers: Values | undefined, requestId: string): Values {
  if (headers !== undefined && shared.has(headers)) return new NamedHeaders(headers, requestId);
  return { ...headers, [requestIdHeader]: requestId };
}

/** Returns the shared headers to which a request id was added; `undefined` for other headers. */
export function commonHeaders(headers: Values | undefined): Values | undefined {
  return headers === undefined ? undefined : NamedHeaders.findCommon(headers);
}

export const requestIdHeader = 'x-request-id';

/** Pattern of request ids that are accepted from a proxy or client, and logged. */
const sane = /^[\w.:+/=@-]{1,128}$/;

/** Returns `undefined` if the id is not safe to log. */
export function givenRequestId(given: string | undefined): string | undefined {
  return given !== undefined && sane.test(given) ? given : undefined;
}

/** Assigns request ids, which link a response to the log. A sent id is kept; other requests get a new one. */
export class RequestIds {
  readonly #prefix: string;
  #count = 0;

  /** @param randomBytes source of a random prefix, so that two processes assign different ids */
  constructor(randomBytes: (length: number) => Buffer) {
    this.#prefix = `${randomBytes(6).toString('hex')}-`;
  }

  of(request: Request): string {
    const given = givenRequestId(request.header(requestIdHeader));
    if (given !== undefined) return given;
    this.#count += 1;
    return this.#prefix + this.#count.toString(36);
  }
}
