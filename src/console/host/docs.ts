import type { ConsoleSettings } from '../../contract/console.ts';
import type { Endpoint } from '../../http/endpoint.ts';
import type { Handler } from '../../http/types.ts';
import { missingPage } from './document.ts';
import { type BundledFile, type ConsoleBundle, sender } from './files.ts';

/** The docs are the same for everyone: they contain nothing of this server. */
const access = { credential: 'None', who: 'Everybody' };

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; form-action 'none'; " +
  "frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

const headers = {
  // Names do not change with the content.
  'cache-control': 'no-cache',
  'content-security-policy': policy,
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/** The docs, at `/docs`. */
export function docsEndpoints(bundle: ConsoleBundle): readonly Endpoint<ConsoleSettings>[] {
  const { pages, files } = bundle.docs;
  const single = pages.filter(({ name }) => !name.includes('/'));
  const deeper = [...files, ...pages.filter(({ name }) => name.includes('/'))];
  const send = (file: BundledFile) => sender(bundle, file, headers);
  return [
    endpoint('/docs', (settings) => {
      const contents = single.find(({ name }) => name === '');
      return contents === undefined ? missingPage(bundle, settings) : send(contents);
    }),
    endpoint('/docs/:name', (settings) => {
      const handlers = new Map(single.map((file) => [file.name, send(file)]));
      const missing = missingPage(bundle, settings);
      return (request, params) => (handlers.get(params['name']!) ?? missing)(request, params);
    }),
    ...deeper.map((file) => endpoint(`/docs/${file.name}`, () => send(file))),
  ];
}

function endpoint(path: string, bind: (settings: ConsoleSettings) => Handler): Endpoint<ConsoleSettings> {
  return { method: 'GET', path, access, bind };
}
