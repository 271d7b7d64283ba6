import { html } from '../auth/pages/html.ts';
import { pageReply } from '../auth/pages/page.ts';
import type { Group } from '../http/endpoint.ts';

/** `GET /`: a page for people who open the address of a server that they have just started. */
export const welcome: Group<{ /** Public URL of the base host. */ readonly audience: string }> = {
  tag: 'Welcome',
  description: 'A page for people.',
  endpoints: [
    {
      method: 'GET',
      path: '/',
      access: { credential: 'None', who: 'Everybody' },
      bind({ audience }) {
        const page = pageReply({ status: 200, title: 'Running', content: contentFor(audience) });
        return () => page;
      },
    },
  ],
};

const contentFor = (audience: string) => html`<h1>flagmeter is running</h1>
<p>Create an application and a key for your app from a terminal:</p>
<pre>flagmeter login --url ${audience}
flagmeter apps create Shop
flagmeter keys create Frontend --app Shop</pre>
<p>For programs there is <a href="api/v2/openapi.json">the description of the management API</a>.
The metrics host describes itself at <code>/swagger/v2/swagger.json</code>.</p>`;
