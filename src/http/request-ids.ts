import type { Request } from './types.ts';

/** The header that names a request, in what is asked and in what is answered. */
export const requestIdHeader = 'x-request-id';

/** What a proxy or client may name its request: it stands in the log. */
const sane = /^[\w.:+/=@-]{1,128}$/;

/** Names requests, so that an answer can be found in the log: by the name that they came with, else by a new one. */
export class RequestIds {
  readonly #prefix: string;
  #count = 0;

  /** @param randomBytes so that two processes give no two requests the same name */
  constructor(randomBytes: (length: number) => Buffer) {
    this.#prefix = `${randomBytes(6).toString('hex')}-`;
  }

  of(request: Request): string {
    const given = request.header(requestIdHeader);
    if (given !== undefined && sane.test(given)) return given;
    this.#count += 1;
    return this.#prefix + this.#count.toString(36);
  }
}
