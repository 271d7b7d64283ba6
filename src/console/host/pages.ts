/*
 * src/console/host: serves the console. pages.ts has its paths, document.ts its HTML document, files.ts its scripts and style
 * sheet, and docs.ts the docs. sign-in.ts and
 * callback.ts sign a browser in as an OAuth client that keeps its tokens on the server (RFC 10017 §6.1). console-session.ts has
 * the session of the signed-in user.
 */
import type { ConsoleSettings } from '../../contract/console.ts';
import type { Endpoint, Group } from '../../http/endpoint.ts';
import type { Handler, Reply } from '../../http/types.ts';
import { docsEndpoints } from './docs.ts';
import { missingPage, pageReply } from './document.ts';
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
  const endpoints = [...pages, ...docsEndpoints(bundle), ...consoleFiles(bundle)];
  return { tag: 'Console', description: 'The web console and the docs.', endpoints };
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
