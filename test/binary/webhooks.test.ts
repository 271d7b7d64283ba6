import { expect, test } from 'vitest';
import {
  type Binary,
  type Credentials,
  createApplication,
  createKey,
  freshDirectory,
  manage,
  prepare,
  startBinary,
  stop,
  token,
} from '../support/binary.ts';
import { openReceiver, type Receiver, verified } from '../webhooks/receiver.ts';

/** Calls the management API. */
type Call = (method: string, path: string, status: number, body?: object) => Promise<unknown>;

async function createCaller({ http }: Binary, credentials: Credentials): Promise<Call> {
  const accessToken = await token(http, credentials);
  return (method, path, status, body) => manage(http, accessToken, method, `/api/v2${path}`, status, body);
}

interface Hook {
  readonly path: string;
  readonly secret: string;
}

async function hookAt(call: Call, teamId: string, { port }: Receiver): Promise<Hook> {
  const events = ['member.changed', 'key.leaked', 'flag.first_seen'];
  const wanted = { name: 'Chat', url: `http://127.0.0.1:${port}/`, events };
  const made = await call('POST', `/teams/${teamId}/webhooks`, 201, wanted);
  const { id, secret } = made as { id: string; secret: string };
  return { path: `/teams/${teamId}/webhooks/${id}`, secret };
}

test('an event is delivered although the process was killed before the delivery', async () => {
  const data = `${freshDirectory()}/data`;
  const credentials = await prepare(data);
  const args = ['--webhook-allow-private'];
  let service = await startBinary({ data, args });
  let isUp = false;
  const receiver = await openReceiver((response) => {
    if (isUp) response.writeHead(204).end(); // The receiver responds only after the restart.
  });
  let call = await createCaller(service, credentials);
  const { path, secret } = await hookAt(call, credentials.teamId, receiver);
  const user = { email: 'ada@example.com', name: 'Ada', role: 'User', teams: [credentials.teamId] };
  await call('POST', '/users', 201, { ...user, password: 'a long password' });
  await receiver.arrived(1);
  await stop(service, 'SIGKILL');
  isUp = true;
  service = await startBinary({ data, args });
  await receiver.arrived(2);
  const [first, second] = receiver.received.map((one) => [one.headers['webhook-id'], verified(one, secret)]);
  expect(second).toEqual(first);
  expect(second?.[1]).toMatchObject({ type: 'member.changed', data: { change: 'created', user: { name: 'Ada' } } });

  call = await createCaller(service, credentials);
  const application = await createApplication(service.http, await token(service.http, credentials), { name: 'Shop' });
  const { key } = await createKey(service.http, await token(service.http, credentials), application, 'Backend');
  const packet = JSON.stringify({ k: key, e: 'Production', f: { checkout: { on: [1] } } });
  const headers = { 'content-type': 'application/json', origin: 'https://shop.example' };
  const url = `http://${service.http}/api/frontend/telemetry`;
  expect((await fetch(url, { method: 'POST', headers, body: packet })).status).toBe(404);
  await receiver.arrived(3);
  expect(verified(receiver.received[2]!, secret)).toMatchObject({ type: 'key.leaked' });

  const { key: frontend } = await createKey(
    service.http,
    await token(service.http, credentials),
    application,
    'Frontend',
  );
  await fetch(url, { method: 'POST', headers, body: packet.replace(key, frontend) });
  await receiver.arrived(4);
  expect(verified(receiver.received[3]!, secret)).toMatchObject({
    type: 'flag.first_seen',
    data: { application: { name: 'Shop' }, environment: 'Production', feature: 'checkout' },
  });
  expect((await call('GET', path, 200)) as object).toMatchObject({ enabled: true, failingSince: null });
  await stop(service);
});

test('the service does not send webhooks to a private network unless --webhook-allow-private is set', async () => {
  const data = `${freshDirectory()}/data`;
  const credentials = await prepare(data);
  const receiver = await openReceiver();
  const open = await startBinary({ data, args: ['--webhook-allow-private'] });
  const { path } = await hookAt(await createCaller(open, credentials), credentials.teamId, receiver);
  await stop(open);
  const service = await startBinary({ data });
  const call = await createCaller(service, credentials);
  const list = path.replace(/\/[^/]+$/, '');
  for (const url of ['https://127.0.0.1/', 'https://[::ffff:127.0.0.1]/', 'http://hooks.example.com/'])
    await call('POST', list, 400, { name: 'Chat', url, events: ['key.leaked'] });
  const { id } = (await call('POST', `${path}/test`, 201)) as { id: string };
  const attempts = async () => {
    const { latest } = (await call('GET', `${path}/deliveries/${id}`, 200)) as { latest: object[] };
    return latest;
  };
  const error = expect.stringContaining('--webhook-allow-private');
  await expect.poll(attempts).toMatchObject([{ status: null, error }]);
  expect(receiver.received).toEqual([]);
  await stop(service);
});
