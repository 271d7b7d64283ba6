import { expect, test } from 'vitest';
import { fieldText, listDifferences, valueText } from '../../src/console/api/differences.ts';
import { actionText, dayBounds } from '../../src/console/pages/audit/audit-words.ts';

test.each([
  ['application.created', 'application created'],
  ['sign-in-client.deleted', 'sign-in client deleted'],
  ['api-key.created', 'API key created'],
  ['signing-key.rotated', 'signing key rotated'],
  ['user.password-changed', 'user password changed'],
])('the audit action %s is shown as "%s"', (action, words) => expect(actionText(action)).toBe(words));

test('the dates of the audit filter select whole days in the reader’s time zone', () => {
  const { from, to } = dayBounds('2026-03-28', '2026-03-29');
  expect(new Date(from ?? '').getHours()).toBe(0);
  expect(new Date(to ?? '').getDate()).toBe(30);
  expect(dayBounds(undefined, '')).toEqual({ from: undefined, to: undefined });
});

test('a conflict lists all fields that either person has changed, except updatedAt', () => {
  const before = { name: 'Shop', allowedOrigins: [], rate: null, acceptClientIdentities: false, updatedAt: '1' };
  const theirs = { ...before, name: 'Store', acceptClientIdentities: true, updatedAt: '2' };
  const found = listDifferences(before, theirs, { name: 'Markt', allowedOrigins: ['https://a.example'] });
  expect(found).toEqual([
    { field: 'name', before: 'Shop', theirs: 'Store', mine: 'Markt' },
    { field: 'allowedOrigins', before: [], theirs: [], mine: ['https://a.example'] },
    { field: 'acceptClientIdentities', before: false, theirs: true, mine: undefined },
  ]);
});

test.each([
  [true, 'on'],
  [null, 'default'],
  [[], 'none'],
  [['a', 'b'], 'a, b'],
  [[{ name: 'Test', createdAt: '' }], 'Test'],
  [7, '7'],
  [undefined, '–'],
])('the value %j of a setting is shown as "%s"', (value, text) => expect(valueText(value)).toBe(text));

test('fieldText converts the name of a field to words', () =>
  expect(fieldText('allowedOrigins')).toBe('Allowed origins'));
