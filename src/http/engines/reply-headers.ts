import type { Reply } from '../types.ts';

export type EveryReply = Readonly<Record<string, string>>;

/** Disables content sniffing in browsers. @param own headers of this listener */
export function headersOfEveryReply(own: EveryReply = {}): EveryReply {
  return { 'x-content-type-options': 'nosniff', ...own };
}

/** Headers of the reply take precedence. */
export function withHeaders(reply: Reply, every: EveryReply): Reply {
  return { ...reply, headers: { ...every, ...reply.headers } };
}

/** Prevents header injection. */
export function oneLine(value: string): string {
  return value.replace(/[\r\n\0]/g, ' ');
}

/** Cached status and headers of shared replies, and shared headers. Bun processes `Headers` in less than half the time of an object. */
export class KeptReplies {
  readonly #every: EveryReply;
  readonly #kept = new WeakMap<Reply, ResponseInit>();
  readonly #headers = new WeakMap<EveryReply, Headers>();

  constructor(every: EveryReply) {
    this.#every = every;
  }

  of(reply: Reply): ResponseInit {
    return this.#kept.get(reply) ?? this.#keep(reply);
  }

  headersOf(shared: EveryReply): Headers {
    const known = this.#headers.get(shared);
    if (known !== undefined) return known;
    const headers = new Headers({ ...this.#every, ...shared });
    this.#headers.set(shared, headers);
    return headers;
  }

  #keep(reply: Reply): ResponseInit {
    const init = { status: reply.status, headers: new Headers(withHeaders(reply, this.#every).headers) };
    this.#kept.set(reply, init);
    return init;
  }
}
