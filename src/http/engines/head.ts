import { Refusal } from '../../contract/errors.ts';
import { percentDecode } from '../pairs.ts';

/** Pattern `uri-host [ ":" port ]` (RFC 9110 §7.2) without a comma, which joins repeated `Host` headers. */
const host = /^(?:\[[0-9a-f:.]+\]|[\w.~!$&'()*+;=%-]+)(?::\d*)?$/i;

const digits = /^\d+$/;

/** Headers, as sent, that determine the host and the end of a request. Repeated headers are joined with a comma. */
interface FramingHeaders {
  /** Host header. The HTTP engines check that only HTTP/1.0 requests omit it. */
  readonly host: string | undefined;
  readonly contentLength: string | undefined;
  readonly transferEncoding?: string | undefined;
}

/**
 * Returns the refusal of a head that a proxy could read differently (RFC 9112 §3.2, §6.1, §6.3). The engine then closes
 * the connection, because the start of the next request is ambiguous.
 */
export function framingFault({ host: name, contentLength, transferEncoding }: FramingHeaders): Refusal | undefined {
  if (name !== undefined && !host.test(name)) return new Refusal('invalid_head', 'Send one valid Host header');
  if (contentLength !== undefined && !digits.test(contentLength))
    return new Refusal('invalid_head', 'Send one Content-Length');
  if (transferEncoding === undefined) return undefined;
  if (transferEncoding.toLowerCase() !== 'chunked' || contentLength !== undefined)
    return new Refusal('invalid_head', 'Send a Content-Length, or Transfer-Encoding: chunked');
  return undefined;
}

export const resolvable = new Refusal('invalid_path', 'Send a path without . and .. segments, \\ and #');

/**
 * Pattern of a backslash, a fragment, or a `.` or `..` segment, percent-encoded or not (RFC 3986 §3.3, §5.2.4, §6.2.2).
 * `%2F` and `%5C` end a segment here, because nginx decodes a path before it resolves it.
 */
const unplain = /[\\#]|(?:^|\/|%2f|%5c)(?:\.|%2e){1,2}(?:\/|%2f|%5c|$)/i;

/** True if a path is unambiguous. Proxies check the sent path, so it must not resolve to another path. */
export function isPlainPath(path: string): boolean {
  return !unplain.test(path);
}

/** True if a path was unambiguous before Bun resolved it. @param sent the sent segments, percent-decoded, in order */
export function wasPlainPath(path: string, sent: readonly string[]): boolean {
  if (!isPlainPath(path)) return false;
  const segments = path.split('/').slice(1);
  return segments.length === sent.length && segments.every((segment, at) => means(segment, sent[at]!));
}

function means(segment: string, sent: string): boolean {
  const text = percentDecode(segment);
  return text === undefined || text === sent;
}
