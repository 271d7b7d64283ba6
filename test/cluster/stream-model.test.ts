import { describe, expect, it } from 'vitest';
import { type Model, search } from './stream-model.ts';

const sound: readonly (readonly [string, Model])[] = [
  ['with lost answers and a failover', { packets: 3, failovers: 1 }],
  ['with two failovers', { packets: 2, failovers: 2 }],
  ['with a failover that loses commits', { packets: 3, failovers: 1, isLossy: true }],
  ['with two of these', { packets: 2, failovers: 2, isLossy: true }],
  [
    'when the directory of a node is restored from an old copy',
    { packets: 3, failovers: 1, copy: 'restored' },
  ],
  ['when a copy of it runs beside it', { packets: 3, failovers: 1, copy: 'cloned' }],
  ['when what is lost is not kept any more', { packets: 3, failovers: 2, isLossy: true, keepsNothing: true }],
];

const unsound: readonly (readonly [string, Model])[] = [
  ['the fence', { packets: 1, failovers: 0, without: 'fence' }],
  ['the confirmation', { packets: 3, failovers: 1, copy: 'restored', without: 'confirmation' }],
];

describe('every packet is counted exactly once, in all that can happen', () => {
  it.each(sound)('%s', (_, model) => {
    const { states, wrong } = search(model);
    expect(wrong).toBeUndefined();
    expect(states).toBeGreaterThan(100);
  });

  it.each(unsound)('but not without %s', (_, model) => {
    expect(search(model).wrong).toMatch(/counted twice|missing/);
  });
});
