import type { Request } from './types.ts';

export const requestIdHeader = 'x-request-id';

/** The allowed form of an id from a proxy or client: it is logged. */
const sane = /^[\w.:+/=@-]{1,128}$/;

/** The id of a request, if it is safe to log. */
export function givenRequestId(given: string | undefined): string | undefined {
  return given !== undefined && sane.test(given) ? given : undefined;
}

/** Assigns request ids, which link a reply to the log: the id sent, or else a new one. */
export class RequestIds {
  readonly #prefix: string;
  #count = 0;

  /** @param randomBytes distinguishes the ids of two processes */
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
