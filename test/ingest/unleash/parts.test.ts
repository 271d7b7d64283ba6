import fc from 'fast-check';
import { expect, test } from 'vitest';
import { packMessage, type UnleashMessage, unpackPart } from '../../../src/ingest/formats/unleash/message.ts';
import { rowKind } from '../../../src/storage/lmdb/cumulative.ts';

const head = {
  ...{ appName: 'billing', instance: undefined, connection: 'c-1', sdk: 'node 1', platform: undefined },
  ...{ start: undefined, stop: undefined, interval: undefined, notes: new Map<never, never>() },
};
const check = (n: number) => ({ feature: `flag-${n}`, variant: 'on', checks: n, kind: rowKind.variant });
const list = <T>(length: number, create: (n: number) => T) => Array.from({ length }, (_, n) => create(n));

test('the parts of a message are short, and hold everything in it in order', () => {
  const lengths = fc.array(fc.nat(2500), { maxLength: 5 });
  fc.assert(
    fc.property(lengths, fc.nat(2500), fc.nat(2500), (usages, counters, gauges) => {
      const message: UnleashMessage = {
        ...head,
        usages: usages.map((length, n) => ({
          ...{ appName: `app-${n}`, environment: undefined, at: n, path: ['metrics', n] },
          checks: list(length, check),
        })),
        counters: list(counters, (n) => [`counter-${n}`, n]),
        gauges: list(gauges, (n) => [`gauge-${n}`, -1 - n]),
      };
      const { parts, entries, ...rest } = packMessage(message);
      expect(rest).toEqual({ head });
      const contents = parts.map(unpackPart);
      const checks = message.usages.flatMap(({ at, checks }) => checks.map((each) => [at, each]));
      expect(contents.flatMap((each) => each.counters)).toEqual(message.counters);
      expect(contents.flatMap((each) => each.gauges)).toEqual(message.gauges);
      expect(
        contents.flatMap((each) => each.usages.flatMap(({ at, checks }) => checks.map((one) => [at, one]))),
      ).toEqual(checks);
      expect(new Set(contents.flatMap((each) => each.usages.map(({ at }) => at))).size).toBe(usages.length);
      expect(entries).toBe(checks.length + usages.length + counters + gauges);
      for (const each of contents) {
        const sizes = each.usages.map((usage) => usage.checks.length);
        expect(Math.max(0, ...sizes, each.counters.length, each.gauges.length)).toBeLessThanOrEqual(1000);
      }
    }),
    { numRuns: 30 },
  );
});
