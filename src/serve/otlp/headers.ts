const token = /^[!#$%&'*+.^_`|~\w-]+$/;
const value = /^[\x20-\x7e]*$/;

/**
 * Parses headers, `NAME: VALUE` in each line. Empty lines and those that begin with `#` are skipped.
 * @throws {Error} that names the line without its content
 */
export function readHeaders(text: string): Record<string, string> {
  const headers = new Map<string, string>();
  for (const [at, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).trim();
    const content = line.slice(colon + 1).trim();
    if (colon < 0 || !token.test(name) || !value.test(content))
      throw new Error(`line ${at + 1} is not NAME: VALUE`);
    headers.set(name.toLowerCase(), content);
  }
  return Object.fromEntries(headers);
}
