/** The name and the attributes of a cookie that is sent only to the host that set it. */
export interface HostCookie {
  readonly name: string;
  /** The value of `Set-Cookie`. @param maxAge seconds */
  write(value: string, maxAge: number): string;
  /** The value of `Set-Cookie` that removes the cookie. */
  readonly removal: string;
}

type SameSite = 'Strict' | 'Lax';

/**
 * A cookie of one host: the base host or the auth host. Over HTTPS, no other host and no plain connection
 * can set the cookie. Over plain HTTP, a browser sends a cookie to every port of a host. The name therefore includes
 * the port, so that two services on one machine have separate cookies.
 * @param baseUrl the public URL of the host
 * @param id suffix of the name, which distinguishes cookies of the same kind
 */
export function hostCookie(baseUrl: string, kind: string, sameSite: SameSite, id = ''): HostCookie {
  const { protocol, port } = new URL(baseUrl);
  const secure = protocol === 'https:';
  const name = (secure ? `__Host-${kind}` : `${kind}-${port || '80'}`) + (id && `-${id}`);
  const attributes = `Path=/; HttpOnly; SameSite=${sameSite}${secure ? '; Secure' : ''}`;
  const write = (value: string, maxAge: number) => `${name}=${value}; Max-Age=${maxAge}; ${attributes}`;
  return { name, write, removal: write('', 0) };
}
