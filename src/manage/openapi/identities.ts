import { parameterNamed } from '../../http/openapi/headers.ts';
import { done, one } from './answers.ts';
import type { Resource } from './operation.ts';
import { inQuery } from './parameters.ts';
import { count, exampleTime, fields, listOf, type Shape, text, time } from './shape.ts';

const exposures: Shape = {
  name: 'Exposures',
  schema: fields({
    identity: text('The identity that was asked for.'),
    environment: text('Name of the environment.'),
    exposures: listOf(
      fields({
        feature: text('Name of the feature.'),
        variant: text('Name of the variant.'),
        firstSeenAt: time('When the person was given it first.'),
        lastSeenAt: time('When that was the last time.'),
        checks: count('How often it was asked for.'),
        used: count('How often it was used.'),
        viewed: count('How often it was seen.'),
      }),
      'In the order of features and variants.',
    ),
  }),
  example: {
    identity: 'user-7',
    environment: 'Production',
    exposures: [
      {
        feature: 'checkout',
        variant: 'on',
        firstSeenAt: exampleTime,
        lastSeenAt: exampleTime,
        checks: 3,
        used: 2,
        viewed: 1,
      },
    ],
  },
};

const path = '/applications/:id/identities/:identity';

/** `/applications/{id}/identities/{identity}` and what is below. */
export const identities: Resource = {
  tag: 'Identities',
  words: 'What is kept of single people.',
  shapes: [exposures],
  routes: {
    [`GET ${path}/exposures` as const]: {
      operationId: 'listExposures',
      summary: 'Read which variants a person was given',
      description: 'Of a person of whom nothing is known there are none.',
      query: [parameterNamed('Environment')],
      answers: { 200: one(exposures, 'The exposures.') },
      refusals: {
        invalid_query: 'environment is missing',
        unknown_environment: 'The application has no such environment',
      },
    },
    'DELETE /applications/:id/identities': {
      operationId: 'forgetIdentityByQuery',
      summary: 'Forget a person whose identity no path can hold',
      description:
        'The same as `DELETE …/identities/{identity}`, for any identity: clients and proxies resolve a path that ends in `.` or `..`.',
      query: [{ ...inQuery('identity', 'The identity, as it was minted or asserted.'), required: true }],
      answers: { 204: done('Nothing is kept of the identity.') },
      refusals: {
        invalid_query: 'identity must say who is to be forgotten',
        store_unavailable: 'The store did not take the data; nothing of it was kept',
      },
    },
    [`DELETE ${path}` as const]: {
      operationId: 'forgetIdentity',
      summary: 'Forget a person',
      description:
        'Instance ids and exposures of the identity are removed before the answer, in every environment. Totals and counts of unique users, which name nobody, stay.',
      answers: { 204: done('Nothing is kept of the identity.') },
      refusals: { store_unavailable: 'The store did not take the data; nothing of it was kept' },
    },
  },
};
