import type { Request } from '../http/types.ts';

/** The name that the ledger knows a sender by. SDKs name themselves in `UA`; `User-Agent` is what their library makes of it. */
export function senderNameOf(request: Request): string | undefined {
  return request.header('ua') ?? request.header('user-agent');
}
