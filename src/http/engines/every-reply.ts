import type { Reply } from '../types.ts';

/** Headers of every reply of a listener. */
export type EveryReply = Readonly<Record<string, string>>;

/** Disables content sniffing in browsers. @param own headers of this listener */
export function headersOfEveryReply(own: EveryReply = {}): EveryReply {
  return { 'x-content-type-options': 'nosniff', ...own };
}

/** A reply with more headers. The reply's own take precedence. */
export function withHeaders(reply: Reply, every: EveryReply): Reply {
  return { ...reply, headers: { ...every, ...reply.headers } };
}
