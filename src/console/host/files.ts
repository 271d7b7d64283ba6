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
}

export interface BundledFile {
  /** Contains a hash of the content. */
  readonly name: string;
  readonly type: string;
  /** Base64. */
  readonly gzip: string;
  readonly brotli: string;
}

/** The endpoints of the files of a bundle. Names change with the content, so that browsers may cache them forever. */
export function consoleFiles({ files }: ConsoleBundle): readonly Endpoint<unknown>[] {
  return files.map((file) => ({
    method: 'GET',
    path: `/console/files/${file.name}`,
    access: { credential: 'None', who: 'Everybody' },
    bind: () => sender(file),
  }));
}

function sender({ type, gzip, brotli }: BundledFile): Handler {
  const headers = {
    'content-type': type,
    'cache-control': 'public, max-age=31536000, immutable',
    vary: 'Accept-Encoding',
  };
  const encoded = (encoding: string, body: Buffer): Reply => ({
    status: 200,
    headers: { ...headers, 'content-encoding': encoding },
    body,
  });
  const compressed = Buffer.from(gzip, 'base64');
  const replies = {
    br: encoded('br', Buffer.from(brotli, 'base64')),
    gzip: encoded('gzip', compressed),
  };
  return (request) => {
    const encoding = codingFor(request.header('accept-encoding'), ['br', 'gzip']);
    if (encoding !== undefined) return replies[encoding];
    return { status: 200, headers, body: gunzipSync(compressed) };
  };
}
