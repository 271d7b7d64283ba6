/**
 * The entries of `X-Forwarded-For`, the last one first. Each proxy adds one at the end, so what a client has sent can only be to
 * the left of the first one that is not of a proxy.
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
