/**
 * Whether a text has the form of a signed JWT (RFC 7519 §7.2, RFC 7515 §7.1): three base64url parts, of which the first is
 * a JSON object that names an algorithm and the second a JSON object. Says nothing about whether it is valid.
 */
export function isWellFormedJwt(text: string): boolean {
  const [header = '', payload = '', signature, ...more] = text.split('.', 4);
  if (signature === undefined || more.length > 0 || !base64url.test(signature)) return false;
  const members = readObject(header);
  return typeof members?.['alg'] === 'string' && readObject(payload) !== undefined;
}

const base64url = /^[\w-]*$/;

function readObject(part: string): Readonly<Record<string, unknown>> | undefined {
  if (!base64url.test(part)) return undefined;
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString());
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
