import { createApplication, createKey, type prepare, token, usage } from './binary.ts';
import { openSender } from './packet-sender.ts';

export type Credentials = Awaited<ReturnType<typeof prepare>>;

/** An application of a running service, and what tests need to use it. */
export interface Shop {
  readonly credentials: Credentials;
  readonly application: string;
  readonly key: string;
}

/** Creates an application with a Frontend key. */
export async function openShop(http: string, credentials: Credentials): Promise<Shop> {
  const access = await token(http, credentials);
  const application = await createApplication(http, access, { name: 'shop' });
  const { key } = await createKey(http, access, application, 'Frontend');
  return { credentials, application, key };
}

/** Sends one check of `feature` over a separate connection. @returns the status; `undefined` without a response */
export async function sendCheck(http: string, key: string, feature: string): Promise<number | undefined> {
  const sender = openSender(http);
  const status = await sender.send({ k: key, e: 'Production', f: { [feature]: { on: [1] } } });
  sender.close();
  return status;
}

/** Reads the checks by feature in the last day and the next hour. */
export async function readChecks(http: string, shop: Omit<Shop, 'key'>): Promise<Map<string, number>> {
  const access = await token(http, shop.credentials);
  const query = {
    environment: 'Production',
    step: 'hour',
    from: new Date(Date.now() - 86_400_000),
    to: new Date(Date.now() + 3_600_000),
  } as const;
  const report = await usage(http, access, shop.application, query);
  return new Map(report.features.map(({ feature, checks }) => [feature, checks]));
}

/** Tries to create an application in a service whose store may refuse it. */
export async function tryApplication(http: string, accessToken: string, name = 'one more'): Promise<Response> {
  return fetch(`http://${http}/api/v2/applications`, {
    method: 'POST',
    headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name }),
  });
}
