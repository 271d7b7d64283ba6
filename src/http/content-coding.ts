import type { Request } from './types.ts';

/** Whether a client takes a content coding (RFC 9110 §12.5.3). */
export function accepts(request: Pick<Request, 'header'>, coding: string): boolean {
  const codings = (request.header('accept-encoding') ?? '').toLowerCase().split(',');
  return codings.some((each) => {
    const [name = '', ...parameters] = each.split(';').map((part) => part.trim());
    return name === coding && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
  });
}
