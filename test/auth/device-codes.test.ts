import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { DeviceCodes } from '../../src/auth/device-codes.ts';
import { testClock } from '../accounts/fixture.ts';

const request = { clientId: 'flagmeter-cli', scope: 'openid', address: '192.0.2.1' };

test('only so many devices wait, and those whose time is over make room', () => {
  const clock = testClock();
  const devices = new DeviceCodes({ clock, randomBytes });
  const fill = () => {
    for (;;) devices.begin(request);
  };
  expect(fill).toThrow(expect.objectContaining({ code: 'backpressure' }));
  expect(devices.size).toBe(10_000);
  clock.advance(900_000);
  devices.begin(request);
  expect(devices.size).toBe(1);
});

test('no two devices that wait have the same user code', () => {
  const bytes = [7, 7, 9].map((byte) => Buffer.alloc(8, byte));
  const random = (size: number) => (size === 8 ? bytes.shift()! : randomBytes(size));
  const devices = new DeviceCodes({ clock: testClock(), randomBytes: random });
  expect([devices.begin(request), devices.begin(request)].map(({ userCode }) => userCode)).toEqual([
    'KKKK-KKKK',
    'PPPP-PPPP',
  ]);
});
