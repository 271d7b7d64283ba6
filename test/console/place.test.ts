import { describe, expect, test } from 'vitest';
import { readPlace } from '../../src/console/address/place.ts';

describe('an address', () => {
  test.each([
    ['/', {}, [undefined, undefined, '']],
    ['/apps/a1', {}, ['a1', undefined, '']],
    ['/apps/a1/Production', {}, ['a1', 'Production', '']],
    ['/apps/a1/Production/flags', {}, ['a1', 'Production', 'flags']],
    ['/apps/a1/Gr%C3%B6%C3%9Fe%20%2F%20L/flag', { name: '..' }, ['a1', 'Größe / L', 'flag']],
    ['/apps/a1/%E0%A4%A/flags', {}, ['a1', '\ufffd', 'flags']],
    ['/apps/a1/settings/flags', {}, ['a1', 'settings', 'flags']],
    ['/settings', {}, [undefined, undefined, 'settings']],
    ['/settings/application', { app: 'a1' }, ['a1', undefined, 'application']],
    ['/settings/team', {}, [undefined, undefined, 'settings']],
  ])('readPlace reads the path %s with the query %j', (path, query, [application, environment, page]) => {
    expect(readPlace(path, query as Record<string, string>)).toEqual({ application, environment, page });
  });
});
