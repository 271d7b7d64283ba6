import { ApiError } from '../../errors.ts';
import { percentDecode } from '../percent.ts';

/** The refusal of a path that is not plain. */
export const resolvable = new ApiError('invalid_path', 'Send a path without . and .. segments, \\ and #');

/** A backslash, a fragment, or a segment that is `.` or `..`, also percent-encoded (RFC 3986 §3.3, §5.2.4, §6.2.2). */
const unplain = /[\\#]|(?:^|\/)(?:\.|%2e){1,2}(?:\/|$)/i;

/**
 * Whether a path means the same to everyone who reads it. A proxy decides by the path as it was sent, so one that others
 * could resolve to another path is refused.
 * @param path as it was sent
 */
export function isPlainPath(path: string): boolean {
  return !unplain.test(path);
}

/**
 * The same for a path that was resolved already.
 * @param path as it was resolved
 * @param sent the segments as they were sent, percent-decoded, in their order
 */
export function wasPlainPath(path: string, sent: readonly string[]): boolean {
  if (!isPlainPath(path)) return false;
  const segments = path.split('/').slice(1);
  return segments.length === sent.length && segments.every((segment, at) => means(segment, sent[at]!));
}

/** What is malformed cannot be compared; no route takes it. */
function means(segment: string, sent: string): boolean {
  const text = percentDecode(segment);
  return text === undefined || text === sent;
}
