/**
 * The entries of `X-Forwarded-For`, last first. Each proxy appends one. Entries sent by a client can only be to the left of the
 * first one that is not a proxy's.
 */
export function* forwardedForNodes(text: string): Generator<string, void, void> {
  let end = text.length;
  while (end >= 0) {
    const comma = end === 0 ? -1 : text.lastIndexOf(',', end - 1);
    const entry = text.slice(comma + 1, end).trim();
    if (entry !== '') yield entry;
    end = comma;
  }
}
