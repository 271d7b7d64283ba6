import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { DeviceCodes } from '../../src/auth/device-codes.ts';
import { testClock } from '../accounts/fixture.ts';

const request = { clientId: 'flagmeter-cli', scope: 'openid', address: '192.0.2.1' };

test('the number of devices is bounded, and expired ones make room', () => {
  const clock = testClock();
  const devices = new DeviceCodes({ clock, randomBytes });
  for (let count = 0; count < 10_100; count += 1) devices.begin(request);
  expect(devices.size).toBe(10_000);
  clock.advance(900_000);
  devices.begin(request);
  expect(devices.size).toBe(1);
});

test('a network that requests very many codes does not displace the devices of others', () => {
  const devices = new DeviceCodes({ clock: testClock(), randomBytes });
  const elsewhere = { ...request, address: '198.51.100.7' };
  const before = devices.begin(elsewhere);
  const first = devices.begin(request);
  for (let count = 0; count < 10_000; count += 1) devices.begin(request);
  const after = devices.begin(elsewhere);
  expect(devices.find(first.userCode)).toBeUndefined();
  expect(devices.poll(first.deviceCode, request.clientId)).toEqual({ outcome: 'unknown' });
  for (const { userCode, deviceCode } of [before, after]) {
    expect(devices.find(userCode)).toMatchObject(elsewhere);
    expect(devices.poll(deviceCode, request.clientId)).toEqual({ outcome: 'pending' });
  }
});

test('no two waiting devices have the same user code', () => {
  const bytes = [7, 7, 9].map((byte) => Buffer.alloc(8, byte));
  const random = (size: number) => (size === 8 ? bytes.shift()! : randomBytes(size));
  const devices = new DeviceCodes({ clock: testClock(), randomBytes: random });
  expect([devices.begin(request), devices.begin(request)].map(({ userCode }) => userCode)).toEqual([
    'KKKK-KKKK',
    'PPPP-PPPP',
  ]);
});
