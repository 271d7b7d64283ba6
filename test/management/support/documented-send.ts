import { expect } from 'vitest';
import type { Dispatch } from '../../../src/http/types.ts';
import { type JsonResponse, type RequestDeps, send as sendAny } from '../../auth/fixture.ts';
import { bodyDepartures, departures, findOperation } from './conformance.ts';

/**
 * Sends a request. Compares the request and its response with the document. The body of a successful request must also
 * be documented.
 */
export async function send(dispatch: Dispatch, target: string, request: RequestDeps = {}): Promise<JsonResponse> {
  const response = await sendAny(dispatch, target, request);
  const operation = findOperation(request.method ?? 'GET', target.replace(/\?.*/, ''));
  if (operation === undefined) return response;
  expect(departures(operation, response), `${operation}: what is answered`).toEqual([]);
  if (response.status < 400) {
    expect(bodyDepartures(operation, request.body ?? ''), `${operation}: what is served`).toEqual([]);
  }
  return response;
}
