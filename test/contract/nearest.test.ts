import { describe, expect, it } from 'vitest';
import { nearest, nearestKnown } from '../../src/contract/nearest.ts';

const commands = ['serve', 'init', 'keys', 'features'];

describe('nearest', () => {
  it.each([
    ['sevre', 'serve'],
    ['SERVE', 'serve'],
    ['feature', 'features'],
    ['key', 'keys'],
    ['feat', 'features'],
    ['initialise', 'init'],
    ['in', undefined],
    ['postgres', undefined],
    ['--data', undefined],
    ['', undefined],
  ])('of %j is %j', (name, meant) => {
    expect(nearest(name, commands)).toBe(meant);
  });

  it('takes the first of two that are equally near', () => {
    expect(nearest('bat', ['cat', 'hat'])).toBe('cat');
  });
});

describe('nearestKnown', () => {
  it('ends a message, or says nothing', () => {
    expect(nearestKnown('dat', ['data'], '--')).toBe('; the nearest known one is --data');
    expect(nearestKnown('zebra', ['data'], '--')).toBe('');
  });
});
