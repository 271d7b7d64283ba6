/**
 * Undoes percent-encoding (RFC 3986 §2.1) of UTF-8 text.
 * @returns `undefined` when an escape is malformed or the bytes are not UTF-8
 */
export function percentDecode(text: string): string | undefined {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
