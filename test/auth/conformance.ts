import { expect } from 'vitest';
import { describeAuthHost } from '../../src/auth/auth-host.ts';
import { createConformance, type UnparsedResponse } from '../support/conformance.ts';

export const openapi = describeAuthHost({ issuer: 'https://auth.example' });

export const { closed, departures } = createConformance(openapi);

/** Fails if a response departs from the OpenAPI document of the auth host. */
export function expectDocumented(operation: string, answered: UnparsedResponse): void {
  expect(departures(operation, answered), `${operation} ${answered.status}`).toEqual([]);
}
