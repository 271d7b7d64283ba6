/*
 * src/console/host: serves the console. pages.ts has its HTML document, its files and the docs. sign-in.ts signs a
 * browser in as an OAuth client that keeps its tokens on the server (RFC 10017 §6.1). console-session.ts has the
 * session of the signed-in user.
 */

import { gunzipSync } from 'node:zlib';
import { Html, html } from '../../auth/browser/pages/html.ts';
import { icon } from '../../auth/browser/pages/page.ts';
import type { ConsoleSettings } from '../../contract/shapes/console.ts';
import type { Endpoint, Group } from '../../http/endpoint.ts';
import { codingFor, typeFor } from '../../http/negotiation.ts';
import { notFound } from '../../http/router.ts';
import type { Handler, HttpResponse } from '../../http/types.ts';

/** The paths of the console. All have the same document, and its script chooses the page to show. */
const paths = [
  '/',
  '/audit',
  '/apps/:application',
  '/apps/:application/:environment',
  '/apps/:application/:environment/:page',
  '/settings',
  '/settings/:page',
  '/console/signed-in',
];

export function consolePages(bundle: ConsoleBundle): Group<ConsoleSettings> {
  const pages = paths.map(
    (path): Endpoint<ConsoleSettings> => ({
      method: 'GET',
      path,
      access: { credential: 'None', who: 'Everybody; the page requires a sign-in' },
      bind: (settings) => pageHandler(path, bundle, settings),
    }),
  );
  const endpoints = [...pages, ...docsEndpoints(bundle), ...consoleFiles(bundle)];
  return { tag: 'Console', description: 'The web console and the docs.', endpoints };
}

function pageHandler(path: string, bundle: ConsoleBundle, settings: ConsoleSettings): Handler {
  const [, first = ''] = path.split('/');
  if (first === 'console') return always(pageResponse(bundle, settings));
  if (first !== 'apps') return always(pageResponse(bundle, settings, first));
  const responses = new Map(Object.keys(bundle.pages).map((page) => [page, pageResponse(bundle, settings, page)]));
  const missing = missingPage(bundle, settings);
  return (request, params) => responses.get(params['page'] ?? 'apps') ?? missing(request, params);
}

const always = (response: HttpResponse) => () => response;

/** Everyone sees the same docs. They contain no data of this server. */
const docsAccess = { credential: 'None', who: 'Everybody' };

const docsPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; form-action 'none'; " +
  "frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

const docsHeaders = {
  // The names of these files do not change with their content, so caches must revalidate the files.
  'cache-control': 'no-cache',
  'content-security-policy': docsPolicy,
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

function docsEndpoints(bundle: ConsoleBundle): readonly Endpoint<ConsoleSettings>[] {
  const { pages, files } = bundle.docs;
  const single = pages.filter(({ name }) => !name.includes('/'));
  const deeper = [...files, ...pages.filter(({ name }) => name.includes('/'))];
  const send = (file: BundledFile) => sender(bundle, file, docsHeaders);
  return [
    docsEndpoint('/docs', (settings) => {
      const contents = single.find(({ name }) => name === '');
      return contents === undefined ? missingPage(bundle, settings) : send(contents);
    }),
    docsEndpoint('/docs/:name', (settings) => {
      const handlers = new Map(single.map((file) => [file.name, send(file)]));
      const missing = missingPage(bundle, settings);
      return (request, params) => (handlers.get(params['name']!) ?? missing)(request, params);
    }),
    ...['/docs/', '/docs/:name/'].map((path) => docsEndpoint(path, () => removeSlash)),
    ...deeper.map((file) => docsEndpoint(`/docs/${file.name}`, () => send(file))),
  ];
}

/** Redirects to the address without the slash, because the links of a page are relative to that address. */
const removeSlash: Handler = (_, { name = 'docs' }) => ({
  status: 308,
  headers: { location: `../${encodeURIComponent(name)}` },
});

function docsEndpoint(path: string, bind: (settings: ConsoleSettings) => Handler): Endpoint<ConsoleSettings> {
  return { method: 'GET', path, access: docsAccess, bind };
}

/** Handles unknown paths. Browsers get the console, which shows "Not found". Other clients get a problem document. */
export function missingPage(bundle: ConsoleBundle, settings: ConsoleSettings): Handler {
  const page = pageResponse(bundle, settings);
  const headers = { ...page.headers, vary: 'Accept' };
  const missing: HttpResponse = { ...page, status: 404, code: 'not_found', headers };
  return (request) => {
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    const type = typeFor(request.header('accept'), ['application/problem+json', 'text/html']);
    return isRead && type === 'text/html' ? missing : notFound;
  };
}

function pageResponse(bundle: ConsoleBundle, settings: ConsoleSettings, page?: string): HttpResponse {
  const root = new URL(settings.baseUrl).pathname.replace(/\/$/, '');
  const file = (name: string) => `${root}/console/files/${name}`;
  const hints = (page === undefined ? [] : (bundle.pages[page] ?? []))
    .filter((name) => name !== bundle.script)
    .map((name) => html`<link rel="modulepreload" href="${file(name)}">`);
  const document = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>flagmeter</title>
<link rel="icon" href="${new Html(icon)}">
<link rel="stylesheet" href="${file(bundle.style)}">
<script type="application/json" id="settings">${jsonForScript(settings)}</script>
<script type="module" src="${file(bundle.script)}"></script>
${hints}
</head>
<body>
<div id="console"></div>
<noscript>The console needs JavaScript. The command line does not: flagmeter help</noscript>
</body>
</html>
`;
  return {
    status: 200,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      // The document contains the names of files, which change with each version.
      'cache-control': 'no-cache',
      'content-security-policy': policy(settings),
      'cross-origin-opener-policy': 'same-origin',
      'referrer-policy': 'same-origin',
      'x-frame-options': 'DENY',
    },
    body: document.text,
  };
}

/** Formats a value as JSON that cannot close its script element. */
function jsonForScript(value: unknown): Html {
  return new Html(JSON.stringify(value).replaceAll('<', '\\u003c'));
}

/** `Content-Security-Policy`: own scripts and styles, requests to the configured hosts, no HTML from strings. */
function policy({ baseUrl, authUrl, metricsUrl }: ConsoleSettings): string {
  const others = [baseUrl, authUrl, metricsUrl].map((url) => new URL(url).origin);
  const connect = ["'self'", ...new Set(others)].join(' ');
  return (
    `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src ${connect}; ` +
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
  );
}

export interface ConsoleBundle extends ConsoleIndex {
  /** The bytes of all files. They are read at the first request for a file, because most services never serve one. */
  content(): Uint8Array;
}

export interface ConsoleIndex {
  readonly script: string;
  readonly style: string;
  /** The scripts of each page, by the page's name in `src/console/pages/routes.ts`. */
  readonly pages: Readonly<Record<string, readonly string[]>>;
  readonly files: readonly BundledFile[];
  readonly docs: DocsBundle;
}

/** The docs. Each name is a path below `/docs`. The name of the table of contents is empty. */
interface DocsBundle {
  readonly pages: readonly BundledFile[];
  /** Images, examples, and `titles.json`, which lists the title, the page and the address of each section. */
  readonly files: readonly BundledFile[];
}

export interface BundledFile {
  /** The name of a console file contains a hash of its content. */
  readonly name: string;
  readonly type: string;
  readonly gzip: Span;
  /** Absent for images, because their formats are compressed already. */
  readonly brotli?: Span;
}

export type Span = readonly [from: number, to: number];

/** The endpoints for the files of a bundle. File names change with the content, so browsers can cache files forever. */
function consoleFiles(bundle: ConsoleBundle): readonly Endpoint<unknown>[] {
  return bundle.files.map((file) => ({
    method: 'GET',
    path: `/console/files/${file.name}`,
    access: { credential: 'None', who: 'Everybody' },
    bind: () => sender(bundle, file, { 'cache-control': 'public, max-age=31536000, immutable' }),
  }));
}

function sender(
  bundle: ConsoleBundle,
  { type, gzip, brotli }: BundledFile,
  more: Readonly<Record<string, string>>,
): Handler {
  const headers = { ...more, 'content-type': type, vary: 'Accept-Encoding' };
  const encoded = { ...(brotli !== undefined && { br: brotli }), gzip };
  const codings = Object.keys(encoded) as (keyof typeof encoded)[];
  const readBytes = ([from, to]: Span) => bundle.content().subarray(from, to);
  return (request): HttpResponse => {
    const encoding = codingFor(request.header('accept-encoding'), codings);
    const span = encoding && encoded[encoding];
    if (span === undefined) return { status: 200, headers, body: gunzipSync(readBytes(gzip)) };
    return { status: 200, headers: { ...headers, 'content-encoding': encoding! }, body: readBytes(span) };
  };
}
