import { gunzipSync } from 'node:zlib';
import type { Endpoint } from '../../http/endpoint.ts';
import { codingFor } from '../../http/negotiation.ts';
import type { Handler, Reply } from '../../http/types.ts';

/** The output of `scripts/build/console.ts`, embedded in the executable as JSON. */
export interface ConsoleBundle {
  readonly script: string;
  readonly style: string;
  /** The scripts of each page, by its name in `src/console/routes.ts`. */
  readonly pages: Readonly<Record<string, readonly string[]>>;
  readonly files: readonly BundledFile[];
  readonly docs: DocsBundle;
}

/** The docs. Names are paths below `/docs`; that of the contents is empty. */
export interface DocsBundle {
  readonly pages: readonly BundledFile[];
  /** Images, examples and `titles.json`: the title, the page and the address of each section. */
  readonly files: readonly BundledFile[];
}

export interface BundledFile {
  /** That of a file of the console contains a hash of the content. */
  readonly name: string;
  readonly type: string;
  /** Base64. */
  readonly gzip: string;
  /** Absent for images, which are compressed already. */
  readonly brotli?: string;
}

/** The endpoints of the files of a bundle. Names change with the content, so that browsers may cache them forever. */
export function consoleFiles({ files }: ConsoleBundle): readonly Endpoint<unknown>[] {
  return files.map((file) => ({
    method: 'GET',
    path: `/console/files/${file.name}`,
    access: { credential: 'None', who: 'Everybody' },
    bind: () => sender(file, { 'cache-control': 'public, max-age=31536000, immutable' }),
  }));
}

/** Sends a file in the coding that the client prefers. */
export function sender({ type, gzip, brotli }: BundledFile, more: Readonly<Record<string, string>>): Handler {
  const headers = { ...more, 'content-type': type, vary: 'Accept-Encoding' };
  const encoded = (encoding: string, body: Buffer): Reply => ({
    status: 200,
    headers: { ...headers, 'content-encoding': encoding },
    body,
  });
  const compressed = Buffer.from(gzip, 'base64');
  const replies = {
    ...(brotli !== undefined && { br: encoded('br', Buffer.from(brotli, 'base64')) }),
    gzip: encoded('gzip', compressed),
  };
  const codings = Object.keys(replies) as (keyof typeof replies)[];
  return (request) => {
    const encoding = codingFor(request.header('accept-encoding'), codings);
    const reply = encoding && replies[encoding];
    return reply ?? { status: 200, headers, body: gunzipSync(compressed) };
  };
}
