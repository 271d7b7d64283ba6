import { expect, test } from 'vitest';
import { routes } from '../../src/console/pages/routes.ts';

test.each(['page', 'path', 'key'] as const)('each page of the console has a %s of its own', (field) => {
  const values = routes.map((route) => route[field]).filter((value) => value !== undefined);
  expect(values).toEqual([...new Set(values)]);
});
