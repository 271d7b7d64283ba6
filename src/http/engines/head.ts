import { ApiError } from '../../contract/errors.ts';

/** `uri-host [ ":" port ]` (RFC 9110 §7.2) without a comma, which joins repeated `Host` headers. */
const host = /^(?:\[[0-9a-f:.]+\]|[\w.~!$&'()*+;=%-]+)(?::\d*)?$/i;

const digits = /^\d+$/;

/** The headers that determine where a request ends and its host, as sent. Repeated ones are joined with a comma. */
export interface Framing {
  /** Only HTTP/1.0 may omit it; the engines check that. */
  readonly host: string | undefined;
  readonly contentLength: string | undefined;
  readonly transferEncoding?: string | undefined;
}

/**
 * The refusal of a head that a proxy could read differently (RFC 9112 §3.2, §6.1, §6.3). The connection is closed after the
 * reply, because the start of the next request is ambiguous.
 */
export function framingFault({ host: name, contentLength, transferEncoding }: Framing): ApiError | undefined {
  if (name !== undefined && !host.test(name))
    return new ApiError('invalid_head', 'Send one valid Host header');
  if (contentLength !== undefined && !digits.test(contentLength))
    return new ApiError('invalid_head', 'Send one Content-Length');
  if (transferEncoding === undefined) return undefined;
  if (transferEncoding.toLowerCase() !== 'chunked' || contentLength !== undefined)
    return new ApiError('invalid_head', 'Send a Content-Length, or Transfer-Encoding: chunked');
  return undefined;
}
