import { expect, test } from 'vitest';
import { typeFor } from '../../src/http/negotiation.ts';

test.each([
  [undefined, 'application/json'],
  ['', 'application/json'],
  ['*/*', 'application/json'],
  ['text/csv', 'text/csv'],
  ['TEXT/CSV', 'text/csv'],
  ['text/*', 'text/csv'],
  ['text/csv;q=0.5, application/x-ndjson', 'application/x-ndjson'],
  ['application/json;q=0.1, text/csv ; q=0.2', 'text/csv'],
  ['*/*, application/json;q=0', 'text/csv'],
  ['text/csv, application/json', 'application/json'],
  ['text/html, */*;q=0.1', 'application/json'],
  ['image/png', 'application/json'],
  ['text/csv;q=2', 'application/json'],
])('typeFor selects, for the Accept header %j, the type %s', (header, type) => {
  expect(typeFor(header, ['application/json', 'text/csv', 'application/x-ndjson'])).toBe(type);
});
