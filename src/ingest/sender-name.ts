import type { Request } from '../http/types.ts';

/** The sender's name in the ledger. SDKs identify themselves in `UA`; `User-Agent` is often set by their HTTP library. */
export function senderNameOf(request: Request): string | undefined {
  return request.header('ua') ?? request.header('user-agent');
}
