/** Maximum characters read of a string: enough for 256 that are all escaped. */
const longestText = 6 * 256;

const beginningBytes = 4096;

/** The prefix of a body that is searched for its sender, at any body size. SDKs write the key first. */
export function beginningOf(body: Uint8Array): Uint8Array {
  return body.subarray(0, beginningBytes);
}

/**
 * Makes a function that extracts a few string fields from a JSON body without parsing it. It works on truncated and malformed
 * bodies, and cannot tell nested fields apart. Use it only for the ledger and the rates of large bodies. It runs in linear time.
 */
export function peekerOf<Name extends string>(...names: readonly Name[]) {
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
