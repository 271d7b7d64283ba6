import { expect } from 'vitest';
import { describeAuthHost } from '../../src/auth/auth-host.ts';
import { type Answered, conformanceOf } from '../support/conformance.ts';

export const openapi = describeAuthHost({ issuer: 'https://auth.example' });

export const { closed, departures } = conformanceOf(openapi);

/** Fails if an answer departs from the OpenAPI document of the auth host. */
export function expectDocumented(operation: string, answered: Answered): void {
  expect(departures(operation, answered), `${operation} ${answered.status}`).toEqual([]);
}
