/** Maximum length, characters: with everything else it has to fit into the `state`. */
const longest = 1000;

/**
 * The path of the console's origin that `return` names; `undefined` for anything that a browser could take for another
 * origin, such as `//host`, `/\host` or a scheme.
 * @param baseUrl the public URL of the base host
 */
export function readReturnPath(baseUrl: string, text: string): string | undefined {
  if (!/^\/(?![/\\])[\x21-\x7e]*$/.test(text) || text.includes('\\') || text.length > longest)
    return undefined;
  const { origin } = new URL(baseUrl);
  if (!URL.canParse(text, origin)) return undefined;
  const url = new URL(text, origin);
  if (url.origin !== origin || url.pathname.startsWith('//')) return undefined;
  return url.pathname + url.search + url.hash;
}

/** The path of the console itself. */
export function homePath(baseUrl: string): string {
  return `${new URL(baseUrl).pathname.replace(/\/$/, '')}/`;
}
