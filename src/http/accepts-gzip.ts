/** Whether `Accept-Encoding` allows gzip (RFC 9110 §12.5.3). */
export function acceptsGzip(header: string | undefined): boolean {
  const codings = new Map<string, boolean>();
  for (const part of header?.split(',') ?? []) {
    const [coding = '', ...parameters] = part.split(';').map((each) => each.trim().toLowerCase());
    codings.set(coding, !parameters.some((each) => /^q=0(\.0*)?$/.test(each)));
  }
  return codings.get('gzip') ?? codings.get('*') ?? false;
}
