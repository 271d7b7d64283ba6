import type { Request } from './types.ts';

/** The header with a request's id, of requests and replies. */
export const requestIdHeader = 'x-request-id';

/** The form of an id that a proxy or client may give: it is logged. */
const sane = /^[\w.:+/=@-]{1,128}$/;

/** The id that a request brings, when it may be logged. */
export function givenRequestId(given: string | undefined): string | undefined {
  return given !== undefined && sane.test(given) ? given : undefined;
}

/** Gives requests ids, by which a reply is found in the log: their own one, else a new one. */
export class RequestIds {
  readonly #prefix: string;
  #count = 0;

  /** @param randomBytes keeps the ids of two processes apart */
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
