import { expect, test } from 'vitest';
import {
  type Owner,
  packetHandler,
  packetsHere,
  type TelemetryDeps,
} from '../../../src/ingest/formats/telemetry/telemetry.ts';

test('a packet is checked against the changes until its body has arrived', () => {
  let isRevoked = false;
  const owner: Owner = {
    catchUp: () => {
      isRevoked = true;
    },
    countsHere: () => true,
    forward: () => Promise.reject(new Error('not expected')),
  };
  const keys = { findKey: () => (isRevoked ? undefined : expect.fail('the key was looked up too early')) };
  const own = packetHandler({ keys, bodies: { free: 4096 } } as unknown as TelemetryDeps);
  const { check, resolve } = packetsHere(own, owner, 65_536, 4096);
  const request = { header: () => undefined } as unknown as Parameters<typeof resolve>[1];
  const packet = check(Buffer.from('{"k":"fm_fe_revoked","e":"Production","f":{}}'), request);
  expect(() => resolve(packet, request)).toThrow('not a Frontend or Mobile key');
});
