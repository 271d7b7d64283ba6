import { expect, test } from 'vitest';
import { decodeSettings, defaultSettings, encodeSettings } from '../../src/cluster/settings.ts';

const before = { ...defaultSettings, features: 3, exposureDays: 7 };

test('what a node says of its settings is what others read', () => {
  expect(decodeSettings(encodeSettings(before), defaultSettings)).toEqual(before);
});

test('a setting stays where a node of an earlier version, which does not know it, says the others', () => {
  const { exposureDays, ...known } = { ...before, features: 4 };
  expect(decodeSettings(Buffer.from(JSON.stringify(known)), before)).toEqual({ ...known, exposureDays });
});

test('a setting that is no whole number is refused', () => {
  for (const features of [1.5, -1, 'many', null])
    expect(() => decodeSettings(Buffer.from(JSON.stringify({ features })), before)).toThrow('whole number');
});
