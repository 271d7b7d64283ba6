import { expect, test } from 'vitest';
import { routes } from '../../src/console/pages/routes.ts';

test.each(['page', 'path', 'key'] as const)('each page of the console has a unique %s', (field) => {
  const values = routes.map((route) => route[field]).filter((value) => value !== undefined);
  expect(values).toEqual([...new Set(values)]);
});
