import { html } from '../auth/pages/html.ts';
import { pageReply } from '../auth/pages/page.ts';
import type { Route } from '../http/types.ts';

/**
 * `GET /`: a page for a person who opens the address of a server that was just started.
 * @param audience public URL of the management API
 */
export function welcomeRoutes({ audience }: { readonly audience: string }): readonly Route[] {
  const page = pageReply({
    status: 200,
    title: 'Running',
    content: html`<h1>flagmeter is running</h1>
<p>Make an application and a key for your app from a terminal:</p>
<pre>flagmeter login --url ${audience}
flagmeter apps create Shop
flagmeter keys create Frontend --app Shop</pre>
<p>For programs there is <a href="api/v2/openapi.json">the description of the management API</a>.
The metrics host describes itself at <code>/swagger/v2/swagger.json</code>.</p>`,
  });
  return [{ method: 'GET', path: '/', handle: () => page }];
}
