/**
 * Decodes percent-encoded (RFC 3986 §2.1) UTF-8 text.
 * @returns `undefined` if an escape is malformed or the bytes are not UTF-8
 */
export function percentDecode(text: string): string | undefined {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
