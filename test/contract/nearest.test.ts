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
  ])('nearest returns for %j the name %j', (name, meant) => {
    expect(nearest(name, commands)).toBe(meant);
  });

  it('nearest returns the first of two equally similar names', () => {
    expect(nearest('bat', ['cat', 'hat'])).toBe('cat');
  });
});

it('nearestKnown returns a suggestion to append to a message, or an empty text', () => {
  expect(nearestKnown('dat', ['data'], '--')).toBe('; the nearest known one is --data');
  expect(nearestKnown('zebra', ['data'], '--')).toBe('');
});
