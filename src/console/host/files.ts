import { gunzipSync } from 'node:zlib';
import type { Endpoint } from '../../http/endpoint.ts';
import { codingFor } from '../../http/negotiation.ts';
import type { Handler, Reply } from '../../http/types.ts';

/** The output of `scripts/build/console.ts`. */
export interface ConsoleBundle extends ConsoleIndex {
  /** The bytes of all files. They are read for the first request for one, because most services are never asked for any. */
  content(): Uint8Array;
}

/** The files of the console, without their bytes. */
export interface ConsoleIndex {
  readonly script: string;
  readonly style: string;
  /** The scripts of each page, by its name in `src/console/routes.ts`. */
  readonly pages: Readonly<Record<string, readonly string[]>>;
  readonly files: readonly BundledFile[];
  readonly docs: DocsBundle;
}

/** The docs. Names are paths below `/docs`; that of the contents is empty. */
interface DocsBundle {
  readonly pages: readonly BundledFile[];
  /** Images, examples and `titles.json`: the title, the page and the address of each section. */
  readonly files: readonly BundledFile[];
}

export interface BundledFile {
  /** That of a file of the console contains a hash of the content. */
  readonly name: string;
  readonly type: string;
  readonly gzip: Span;
  /** Absent for images, which are compressed already. */
  readonly brotli?: Span;
}

/** Bytes of the content of a bundle. */
export type Span = readonly [from: number, to: number];

/** The endpoints of the files of a bundle. Names change with the content, so that browsers may cache them forever. */
export function consoleFiles(bundle: ConsoleBundle): readonly Endpoint<unknown>[] {
  return bundle.files.map((file) => ({
    method: 'GET',
    path: `/console/files/${file.name}`,
    access: { credential: 'None', who: 'Everybody' },
    bind: () => sender(bundle, file, { 'cache-control': 'public, max-age=31536000, immutable' }),
  }));
}

/** Sends a file in the coding that the client prefers. */
export function sender(
  bundle: ConsoleBundle,
  { type, gzip, brotli }: BundledFile,
  more: Readonly<Record<string, string>>,
): Handler {
  const headers = { ...more, 'content-type': type, vary: 'Accept-Encoding' };
  const encoded = { ...(brotli !== undefined && { br: brotli }), gzip };
  const codings = Object.keys(encoded) as (keyof typeof encoded)[];
  const bytesOf = ([from, to]: Span) => bundle.content().subarray(from, to);
  return (request): Reply => {
    const encoding = codingFor(request.header('accept-encoding'), codings);
    const span = encoding && encoded[encoding];
    if (span === undefined) return { status: 200, headers, body: gunzipSync(bytesOf(gzip)) };
    return { status: 200, headers: { ...headers, 'content-encoding': encoding! }, body: bytesOf(span) };
  };
}
