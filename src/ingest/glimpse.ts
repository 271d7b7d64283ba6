/** Characters of a text that is made out: enough for 256 that are all escaped. */
const longestText = 6 * 256;

const beginningBytes = 64 * 1024;

/** The part of a body in which its key is searched, however large it is: SDKs write the key first. */
export function beginningOf(body: Uint8Array): Uint8Array {
  return body.subarray(0, beginningBytes);
}

/**
 * Makes a second look at JSON bodies that were refused: which texts they seem to have under some names. That tells the
 * ledger whom a refusal concerns, and nothing else relies on it: a body may be cut off or broken elsewhere, and what is
 * nested is not told apart. A look takes time in proportion to the body.
 */
export function glimpseOf<Name extends string>(...names: readonly Name[]) {
  const text = `"(?:[^"\\\\]|\\\\.){0,${longestText}}"`;
  const pattern = new RegExp(`"(${names.join('|')})"\\s*:\\s*(${text})`, 'g');
  return (body: Uint8Array): { readonly [Each in Name]?: string } => {
    const found = new Map<string, string>();
    for (const [, name = '', json = ''] of Buffer.from(body).toString().matchAll(pattern)) {
      const value = unquote(json);
      if (value !== undefined && !found.has(name)) found.set(name, value);
      if (found.size === names.length) break;
    }
    return Object.fromEntries(found) as { [Each in Name]?: string };
  };
}

function unquote(json: string): string | undefined {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
