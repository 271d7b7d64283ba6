import { expect, test } from 'vitest';
import { decodeBody, defaultSettings, encodeBody, settingsAfter } from '../../src/replication/entry.ts';

const before = { ...defaultSettings, features: 3, exposureDays: 7 };

test('decoding logged settings returns the same settings', () => {
  const said = decodeBody('settings', encodeBody('settings', before));
  expect(settingsAfter(defaultSettings, said)).toEqual(before);
});

test('settings are logged as JSON, which earlier versions read', () => {
  expect(JSON.parse(encodeBody('settings', before).toString())).toEqual(before);
});

test('a setting that an earlier version does not log keeps its value', () => {
  const { exposureDays, ...known } = { ...before, features: 4 };
  expect(settingsAfter(before, known)).toEqual({ ...known, exposureDays });
});

test('a setting that is not a whole number is refused', () => {
  for (const features of [1.5, -1, 'many', null])
    expect(() => settingsAfter(before, { features } as never)).toThrow('whole number');
});
