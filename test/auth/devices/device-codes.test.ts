import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { EmbeddedAccountStore } from '../../../src/accounts/store/embedded.ts';
import { DeviceCodes } from '../../../src/auth/oauth/device-codes.ts';
import { openTestStore, type TestClock, testClock, testHealth } from '../../accounts/fixture.ts';

const request = { clientId: 'flagmeter-cli', scope: 'openid', address: '192.0.2.1' };

/** More devices than one scan removes, but few enough for a slow disk. */
const maxDevices = 300;

function openDevices(random = randomBytes as (size: number) => Buffer): {
  devices: DeviceCodes;
  accountStore: EmbeddedAccountStore;
  clock: TestClock;
} {
  const accountStore = new EmbeddedAccountStore(openTestStore(), testHealth());
  const clock = testClock();
  return { devices: new DeviceCodes({ accountStore, clock, randomBytes: random, maxDevices }), accountStore, clock };
}

async function beginMany(devices: DeviceCodes, clock: TestClock, count: number): Promise<void> {
  await Promise.all(Array.from({ length: count }, () => devices.begin(request)));
  clock.advance(1);
}

test('the number of waiting devices is limited, and expired devices are removed first', async () => {
  const { devices, clock } = openDevices();
  await beginMany(devices, clock, maxDevices + 50);
  expect(devices.size).toBeLessThanOrEqual(maxDevices);
  expect(devices.size).toBeGreaterThan(maxDevices - 100);
  await beginMany(devices, clock, maxDevices - devices.size);
  clock.advance(900_000);
  await devices.begin(request);
  expect(devices.size).toBe(1);
});

test('a network that requests very many codes does not displace the devices of other networks', async () => {
  const { devices, clock } = openDevices();
  const elsewhere = { ...request, address: '198.51.100.7' };
  const before = await devices.begin(elsewhere);
  const first = await devices.begin(request);
  clock.advance(1);
  await beginMany(devices, clock, maxDevices);
  const after = await devices.begin(elsewhere);
  expect(devices.find(first.userCode)).toBeUndefined();
  expect(devices.poll(first.deviceCode, request.clientId)).toEqual({ outcome: 'unknown' });
  for (const { userCode, deviceCode } of [before, after]) {
    expect(devices.find(userCode)).toMatchObject(elsewhere);
    expect(devices.poll(deviceCode, request.clientId)).toEqual({ outcome: 'pending' });
  }
});

test('user codes of waiting devices are unique', async () => {
  const bytes = [7, 7, 9].map((byte) => Buffer.alloc(8, byte));
  const { devices } = openDevices((size) => (size === 8 ? bytes.shift()! : randomBytes(size)));
  const begun = [await devices.begin(request), await devices.begin(request)];
  expect(begun.map(({ userCode }) => userCode)).toEqual(['KKKK-KKKK', 'PPPP-PPPP']);
});

test('only one of two concurrent polls of a device gets the session', async () => {
  const { devices, accountStore } = openDevices();
  const { deviceCode, userCode } = await devices.begin(request);
  const allowance = { userId: 'user_1', signIn: 'key', authTime: 1, scope: 'openid' };
  const waiting = devices.find(userCode)!;
  const decisions = [allowance, 'denied'] as const;
  const decided = decisions.map((each) => accountStore.change((tx) => devices.decide(tx, waiting, each)));
  expect(await Promise.all(decided)).toEqual([true, false]);
  expect(devices.poll(deviceCode, request.clientId)).toEqual({ outcome: 'allowed' });
  expect(devices.poll(deviceCode, 'another')).toEqual({ outcome: 'unknown' });
  const taken = [1, 2].map(() => accountStore.change((tx) => devices.take(tx, deviceCode, request.clientId)));
  expect(await Promise.all(taken)).toEqual([allowance, undefined]);
  expect(devices.poll(deviceCode, request.clientId)).toEqual({ outcome: 'unknown' });
});
