import { expect, test } from 'vitest';
import { commonHeaders, sharedHeaders, withRequestId } from '../../src/http/request-ids.ts';

const shared = sharedHeaders({ 'content-type': 'text/plain' });

test('commonHeaders returns the shared headers of headers with a request id', () => {
  const headers = withRequestId(shared, 'id');
  expect({ ...headers }).toEqual({ 'content-type': 'text/plain', 'x-request-id': 'id' });
  expect(commonHeaders(headers)).toBe(shared);
});

test('a changed copy of shared headers keeps the added header, and does not count as shared', () => {
  const headers = { ...withRequestId(shared, 'id'), vary: 'Origin' };
  expect(headers).toEqual({ 'content-type': 'text/plain', 'x-request-id': 'id', vary: 'Origin' });
  expect(commonHeaders(headers)).toBeUndefined();
});

test('withRequestId returns an ordinary object for headers that are not shared', () => {
  expect(withRequestId({ allow: 'GET' }, 'id')).toEqual({ allow: 'GET', 'x-request-id': 'id' });
  expect(withRequestId(undefined, 'id')).toEqual({ 'x-request-id': 'id' });
  expect(commonHeaders(withRequestId({ ...shared }, 'id'))).toBeUndefined();
  expect(commonHeaders(shared)).toBeUndefined();
  expect(commonHeaders(undefined)).toBeUndefined();
});

test('shared headers cannot be changed', () => {
  expect(Object.isFrozen(shared)).toBe(true);
});
