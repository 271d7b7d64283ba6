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
  ])('returns for %j the name %j', (name, meant) => {
    expect(nearest(name, commands)).toBe(meant);
  });

  it('returns the first of two equally near names', () => {
    expect(nearest('bat', ['cat', 'hat'])).toBe('cat');
  });
});

it('nearestKnown completes a message, or is empty', () => {
  expect(nearestKnown('dat', ['data'], '--')).toBe('; the nearest known one is --data');
  expect(nearestKnown('zebra', ['data'], '--')).toBe('');
});
