import type { Reply } from '../types.ts';

/** Headers of every reply of a listener. */
export type EveryReply = Readonly<Record<string, string>>;

/** A browser must take each reply for what its `Content-Type` says. @param own those of this listener alone */
export function headersOfEveryReply(own: EveryReply = {}): EveryReply {
  return { 'x-content-type-options': 'nosniff', ...own };
}

/** A reply with more headers. Where both have one, that of the reply counts. */
export function withHeaders(reply: Reply, every: EveryReply): Reply {
  return { ...reply, headers: { ...every, ...reply.headers } };
}
