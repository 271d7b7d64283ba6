import { expect, test } from 'vitest';
import { commonHeaders, sharedHeaders, withRequestId } from '../../src/http/request-ids.ts';

const shared = sharedHeaders({ 'content-type': 'text/plain' });

test('commonHeaders finds the shared headers to which a request id was added', () => {
  const headers = withRequestId(shared, 'id');
  expect({ ...headers }).toEqual({ 'content-type': 'text/plain', 'x-request-id': 'id' });
  expect(commonHeaders(headers)).toBe(shared);
});

test('a copy of shared headers is an ordinary object, so that added headers are not lost', () => {
  const headers = { ...withRequestId(shared, 'id'), vary: 'Origin' };
  expect(headers).toEqual({ 'content-type': 'text/plain', 'x-request-id': 'id', vary: 'Origin' });
  expect(commonHeaders(headers)).toBeUndefined();
});

test('headers that are not shared become an ordinary object with the request id', () => {
  expect(withRequestId({ allow: 'GET' }, 'id')).toEqual({ allow: 'GET', 'x-request-id': 'id' });
  expect(withRequestId(undefined, 'id')).toEqual({ 'x-request-id': 'id' });
  expect(commonHeaders(withRequestId({ ...shared }, 'id'))).toBeUndefined();
  expect(commonHeaders(shared)).toBeUndefined();
  expect(commonHeaders(undefined)).toBeUndefined();
});

test('shared headers cannot be changed', () => {
  expect(Object.isFrozen(shared)).toBe(true);
});
