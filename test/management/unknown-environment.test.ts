import { expect, test } from 'vitest';
import { Refusal } from '../../src/contract/errors.ts';
import { findEnvironment } from '../../src/management/environments.ts';

const environments = ['Production', 'Straße'].map((name, number) => ({ name, number, createdAt: 0 }));

test('an environment is found by its exact name', () => {
  expect(findEnvironment(environments, 'Production')).toBe(environments[0]);
});

test.each([
  ['production', 'The application has no such environment; case matters, and there is Production'],
  ['STRAßE', 'The application has no such environment; case matters, and there is Straße'],
  ['Prod', 'The application has no such environment'],
])('the unknown environment %s is refused, with a hint if only the case differs', (name, detail) => {
  expect(() => findEnvironment(environments, name)).toThrow(new Refusal('unknown_environment', detail));
});
