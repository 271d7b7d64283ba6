import { cookiesOf } from '../../http/cookies.ts';
import type { Request } from '../../http/types.ts';
import { lifetimeSeconds } from '../sign-ins.ts';
import { hostCookie } from './host-cookie.ts';

/** The cookie of the console's session. */
export interface ConsoleCookie {
  /** The value in a request; `undefined` if missing, or if there are two, because one of them was planted. */
  read(request: Pick<Request, 'header'>): string | undefined;
  /** The value of `Set-Cookie`. */
  write(value: string): string;
  readonly removal: string;
}

/** @param baseUrl the public URL of the base host */
export function consoleCookie(baseUrl: string): ConsoleCookie {
  const { name, write, removal } = hostCookie(baseUrl, 'flagmeter-console', 'Strict');
  return {
    read(request) {
      const values = Array.from(cookiesOf(request)).filter(([sent]) => sent === name);
      return values.length === 1 ? values[0]![1] : undefined;
    },
    write: (value) => write(value, lifetimeSeconds),
    removal,
  };
}
