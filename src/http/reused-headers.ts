import { requestIdHeader } from './request-ids.ts';

type Values = Readonly<Record<string, string>>;

const shared = new WeakSet<Values>();

/** Declares headers that many replies have. They never change, so an HTTP engine may cache data derived from them. */
export function sharedHeaders<const Own extends Values>(headers: Own): Own {
  shared.add(Object.freeze(headers));
  return headers;
}

/** Shared headers with the id of one request. A copy of this object, such as one with more headers, has ordinary headers. */
class NamedHeaders {
  [name: string]: string;
  readonly #common: Values;

  constructor(common: Values, requestId: string) {
    Object.assign(this, common);
    this[requestIdHeader] = requestId;
    this.#common = common;
  }

  static commonOf(headers: object): Values | undefined {
    return #common in headers ? headers.#common : undefined;
  }
}

/** Headers with the id of a request. */
export function withRequestId(headers: Values | undefined, requestId: string): Values {
  if (headers !== undefined && shared.has(headers)) return new NamedHeaders(headers, requestId);
  return { ...headers, [requestIdHeader]: requestId };
}

/** The shared headers to which a request id was added; `undefined` if there are others as well. */
export function commonHeaders(headers: Values | undefined): Values | undefined {
  return headers === undefined ? undefined : NamedHeaders.commonOf(headers);
}
