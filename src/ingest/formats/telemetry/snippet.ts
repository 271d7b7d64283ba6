import { gzipSync } from 'node:zlib';
import { type Endpoint, type Group, type Headers, type Operation, TaggedHeaders } from '../../../http/endpoint.ts';
import { entityTag, isTagIn } from '../../../http/entity-tag.ts';
import { codingFor } from '../../../http/negotiation.ts';
import type { Handler, HttpResponse } from '../../../http/types.ts';

/** The built script that counts events on web pages (src/ingest/snippet). */
export interface SnippetFiles {
  /** An ES module, minified. */
  readonly script: string;
  readonly declarations: string;
}

export interface SnippetDeps {
  readonly snippet: SnippetFiles;
}

const description = `An ES module for pages (\`script\` with \`type="module"\`). The module counts, sends a packet every ten seconds and when the visitor leaves the page, and backs off while the service
is unavailable:

    import { flagmeter } from '{metrics_url}/snippet.js';
    const flags = flagmeter({ key: 'fm_fe_…', environment: 'Production' });
    flags.checked('checkout', 'on');

Pages of any origin may load it. A Content-Security-Policy needs this host in \`script-src\` and in \`connect-src\`.`;

const headers: Headers = { ...TaggedHeaders, Vary: { required: true, schema: { const: 'Accept-Encoding' } } };

export const snippet: Group<SnippetDeps> = {
  tag: 'Snippet',
  description: 'A small sender for pages.',
  endpoints: [
    {
      ...fileAt('/snippet.js', 'text/javascript', ({ script }) => script),
      operation: reading('text/javascript', {
        operationId: 'readSnippet',
        summary: 'Load the sender for pages',
        description,
      }),
    },
    {
      ...fileAt('/snippet.d.ts', 'text/plain', ({ declarations }) => declarations),
      operation: reading('text/plain', {
        operationId: 'readSnippetTypes',
        summary: 'Read the TypeScript declarations of the sender',
        description: 'Save it next to the script, or under any name that your compiler includes.',
      }),
    },
  ],
};

function fileAt(path: string, type: string, getText: (files: SnippetFiles) => string): Endpoint<SnippetDeps> {
  return {
    method: 'GET',
    path,
    access: { credential: 'None', who: 'Everybody' },
    bind: ({ snippet: files }) => sendText(getText(files), withCharset(type)),
  };
}

function withCharset(type: string): string {
  return `${type}; charset=utf-8`;
}

/** Caching of the script. Browsers revalidate it after an hour, with an entity tag that changes with its content. */
const caching = 'public, max-age=3600, stale-while-revalidate=86400';

function sendText(text: string, type: string): Handler {
  const etag = entityTag(text);
  const headers = {
    'access-control-allow-origin': '*',
    'cross-origin-resource-policy': 'cross-origin',
    'cache-control': caching,
    etag,
    vary: 'Accept-Encoding',
  };
  const typed = { ...headers, 'content-type': type };
  const unchanged: HttpResponse = { status: 304, headers };
  const plain: HttpResponse = { status: 200, headers: typed, body: text };
  const body = gzipSync(text, { level: 9 });
  const compressed: HttpResponse = { status: 200, headers: { ...typed, 'content-encoding': 'gzip' }, body };
  return (request) => {
    if (isTagIn(etag, request.header('if-none-match'))) return unchanged;
    return codingFor(request.header('accept-encoding'), ['gzip']) === 'gzip' ? compressed : plain;
  };
}

type Words = Pick<Operation, 'operationId' | 'summary'> & { readonly description: string };

function reading(type: string, words: Words): Operation {
  return {
    ...words,
    security: [],
    parameters: [
      {
        name: 'If-None-Match',
        in: 'header',
        description: 'The `ETag` of the cached file.',
        schema: { type: 'string' },
      },
    ],
    responses: {
      200: { description: 'The file.', headers, content: { [withCharset(type)]: { schema: { type: 'string' } } } },
      304: { description: 'The cached file is current.', headers },
    },
  };
}
