import { type TestClock, testClock } from '../accounts/fixture.ts';
import { createApplication, createKey, manage, token } from './binary.ts';
import { type LocalOptions, type LocalService, startLocal } from './service.ts';

export interface Exposure {
  readonly feature: string;
  readonly variant: string;
  readonly firstSeenAt: string;
  readonly lastSeenAt: string;
  readonly checks: number;
  readonly used: number;
  readonly viewed: number;
}

/** A service with an application and its keys, and functions for tests about people. */
export interface People {
  readonly service: LocalService;
  readonly clock: TestClock;
  readonly application: string;
  readonly keys: { readonly Frontend: string; readonly Mobile: string; readonly Backend: string };
  /** Sends a request to mint an id. Uses the Backend key, unless `headers` contain another one. */
  post(body: unknown, headers?: Readonly<Record<string, string>>): Promise<Response>;
  /** Mints an id for an identity. */
  mint(identity: string): Promise<string>;
  /** Sends a packet with one check of `feature` by a person. @returns the status */
  check(feature: string, who: { readonly i?: string; readonly u?: string }, environment?: string): Promise<number>;
  exposures(identity: string, environment?: string): Promise<readonly Exposure[]>;
  /** Calls a path of the management API below the application. */
  call(method: string, path: string, expected: number, body?: unknown): Promise<unknown>;
  /** Stops the service and starts it again on the same data. */
  restart(): Promise<People>;
}

/** Starts a service whose clock advances only when a test advances it, and creates an application. */
export async function openPeople(options: LocalOptions = {}): Promise<People> {
  const clock = testClock();
  return attachPeople(await startLocal({ clock, ...options }), clock, options);
}

/** Creates another application in a running service. */
export async function attachPeople(
  service: LocalService,
  clock: TestClock,
  options: LocalOptions = {},
): Promise<People> {
  const access = await token(service.http, service.credentials);
  const application = await createApplication(service.http, access, { name: 'shop' });
  const issueKey = async (type: 'Frontend' | 'Mobile' | 'Backend') =>
    (await createKey(service.http, access, application, type)).key;
  const keys = {
    Frontend: await issueKey('Frontend'),
    Mobile: await issueKey('Mobile'),
    Backend: await issueKey('Backend'),
  };
  return createPeople(service, clock, application, keys, options);
}

function createPeople(
  service: LocalService,
  clock: TestClock,
  application: string,
  keys: People['keys'],
  options: LocalOptions,
): People {
  const { http, metrics = http } = service;
  const send = (path: string, body: unknown, headers: Readonly<Record<string, string>>) =>
    fetch(`http://${metrics}/api/frontend/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  const post: People['post'] = (body, headers = { authorization: keys.Backend }) => send('identities', body, headers);
  const call: People['call'] = async (method, path, expected, body) => {
    const access = await token(http, service.credentials);
    return manage(http, access, method, `/api/v2/applications/${application}${path}`, expected, body);
  };
  return {
    service,
    clock,
    application,
    keys,
    post,
    call,
    async mint(identity) {
      const { instanceId } = (await (await post({ identity })).json()) as { instanceId: string };
      return instanceId;
    },
    async check(feature, who, e = 'Production') {
      const packet = { k: keys.Frontend, e, f: { [feature]: { on: [1] } }, ...who };
      return (await send('telemetry', packet, { origin: 'https://shop.example.com' })).status;
    },
    async exposures(identity, environment = 'Production') {
      const path = `/identities/${encodeURIComponent(identity)}/exposures?environment=${environment}`;
      return ((await call('GET', path, 200)) as { exposures: Exposure[] }).exposures;
    },
    async restart() {
      await service.stop();
      const { data, credentials } = service;
      const again = await startLocal({ ...options, clock, data, credentials });
      return createPeople(again, clock, application, keys, options);
    },
  };
}
