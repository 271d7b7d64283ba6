import { expect } from 'vitest';
import type { Dispatch } from '../../../src/http/types.ts';
import { type Answer, type RequestDeps, send as sendAny } from '../../auth/fixture.ts';
import { bodyDepartures, departures, operationOf } from './conformance.ts';

/** Sends a request, and compares it and its answer with the document. The body of a served request must be documented. */
export async function send(dispatch: Dispatch, target: string, parts: RequestDeps = {}): Promise<Answer> {
  const answer = await sendAny(dispatch, target, parts);
  const operation = operationOf(parts.method ?? 'GET', target.replace(/\?.*/, ''));
  if (operation === undefined) return answer;
  expect(departures(operation, answer), `${operation}: what is answered`).toEqual([]);
  if (answer.status < 400) {
    expect(bodyDepartures(operation, parts.body ?? ''), `${operation}: what is served`).toEqual([]);
  }
  return answer;
}
