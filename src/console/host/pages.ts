/*
 * src/console/host: serves the console. pages.ts has its HTML document, and files.ts its script and style sheet. sign-in.ts and
 * callback.ts sign a browser in as an OAuth client that keeps its tokens on the server (RFC 10017 §6.1). console-session.ts has
 * the session of the signed-in user.
 */
import { Html, html } from '../../auth/pages/html.ts';
import type { ConsoleSettings } from '../../contract/console.ts';
import type { Endpoint, Group } from '../../http/endpoint.ts';
import { typeFor } from '../../http/negotiation.ts';
import { notFound } from '../../http/router.ts';
import type { Handler, Reply } from '../../http/types.ts';
import { type ConsoleBundle, consoleFiles } from './files.ts';

/** The paths of the console. The page routes by itself. */
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

/** The console's pages and files. */
export function consolePages(bundle: ConsoleBundle): Group<ConsoleSettings> {
  const pages = paths.map(
    (path): Endpoint<ConsoleSettings> => ({
      method: 'GET',
      path,
      access: { credential: 'None', who: 'Everybody; the page asks them to sign in' },
      bind: (settings) => pageHandler(path, bundle, settings),
    }),
  );
  return { tag: 'Console', description: 'The web console.', endpoints: [...pages, ...consoleFiles(bundle)] };
}

function pageHandler(path: string, bundle: ConsoleBundle, settings: ConsoleSettings): Handler {
  const [, first = ''] = path.split('/');
  if (first === 'console') return always(pageReply(bundle, settings));
  if (first !== 'apps') return always(pageReply(bundle, settings, first));
  const replies = new Map(Object.keys(bundle.pages).map((page) => [page, pageReply(bundle, settings, page)]));
  const missing = missingPage(bundle, settings);
  return (request, params) => replies.get(params['page'] ?? 'apps') ?? missing(request, params);
}

const always = (reply: Reply) => () => reply;

/** Answers a path that does not exist: a browser gets the console, which shows "Not found", and others a problem document. */
export function missingPage(bundle: ConsoleBundle, settings: ConsoleSettings): Handler {
  const page = pageReply(bundle, settings);
  const headers = { ...page.headers, vary: 'Accept' };
  const missing: Reply = { ...page, status: 404, code: 'not_found', headers };
  return (request) => {
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    const type = typeFor(request.header('accept'), ['application/problem+json', 'text/html']);
    return isRead && type === 'text/html' ? missing : notFound;
  };
}

/** @param page whose scripts load with the document */
function pageReply(bundle: ConsoleBundle, settings: ConsoleSettings, page?: string): Reply {
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
<link rel="icon" href="${icon}">
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
      // The file names change with each version.
      'cache-control': 'no-cache',
      'content-security-policy': policy(settings),
      'cross-origin-opener-policy': 'same-origin',
      'referrer-policy': 'same-origin',
      'x-frame-options': 'DENY',
    },
    body: document.text,
  };
}

/** JSON for a script element, which it cannot end. */
function jsonForScript(value: unknown): Html {
  return new Html(JSON.stringify(value).replaceAll('<', '\\u003c'));
}

/** Three bars at a flagpole. */
const icon = new Html(
  'data:image/svg+xml,%3Csvg xmlns=%22http://www.w3.org/2000/svg%22 viewBox=%220 0 24 24%22 fill=%22none%22 ' +
    'stroke=%22%235b6ee6%22 stroke-width=%223%22 stroke-linecap=%22round%22%3E' +
    '%3Cpath d=%22M4 3v18M9 5h11M9 10h7M9 15h3%22/%3E%3C/svg%3E',
);

/** `Content-Security-Policy`: only own scripts and styles, requests only to the configured hosts, no HTML from strings. */
function policy({ baseUrl, authUrl, metricsUrl }: ConsoleSettings): string {
  const others = [baseUrl, authUrl, metricsUrl].map((url) => new URL(url).origin);
  const connect = ["'self'", ...new Set(others)].join(' ');
  return (
    `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src ${connect}; ` +
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
  );
}
