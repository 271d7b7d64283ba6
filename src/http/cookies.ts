import type { Request } from './types.ts';

/** The cookies of a request (RFC 6265 §4.2), in their order. A name may repeat. */
export function* cookiesOf(
  request: Pick<Request, 'header'>,
): Generator<readonly [name: string, value: string]> {
  for (const pair of (request.header('cookie') ?? '').split(';')) {
    const equals = pair.indexOf('=');
    if (equals > 0) yield [pair.slice(0, equals).trim(), pair.slice(equals + 1).trim()];
  }
}
