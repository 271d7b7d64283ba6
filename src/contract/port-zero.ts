/** True if a URL, an origin or a pattern of origins has the port 0, to which nothing can connect. */
export function hasPortZero(text: string): boolean {
  return /^[^/?#]*:\/\/[^/?#]*:0+(?:[/?#]|$)/.test(text);
}
