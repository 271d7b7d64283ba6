import { newEnvironmentSchema } from '../environments.ts';
import { done, made, page } from './answers.ts';
import type { Resource } from './operation.ts';
import { paging } from './parameters.ts';
import { bodyShape, exampleTime, fields, type Shape, text, time } from './shape.ts';

/** An environment. */
export const environment: Shape = {
  name: 'Environment',
  schema: fields({
    name: text('Its name, which packets and reports carry.'),
    createdAt: time('When it was made.'),
  }),
  example: { name: 'Production', createdAt: exampleTime },
};

const newEnvironment = bodyShape('NewEnvironment', newEnvironmentSchema, { name: 'Test' });

/** `/applications/{id}/environments` and what is below. */
export const environments: Resource = {
  tag: 'Environments',
  words: 'Each environment of an application counts for itself.',
  shapes: [environment, newEnvironment],
  routes: {
    'GET /applications/:id/environments': {
      operationId: 'listEnvironments',
      summary: 'List the environments of an application',
      query: paging,
      answers: { 200: page(environment, 'The oldest environment comes first.') },
    },
    'POST /applications/:id/environments': {
      operationId: 'createEnvironment',
      summary: 'Add an environment',
      body: newEnvironment,
      answers: { 201: made(environment, 'The environment.') },
      refusals: {
        invalid_name:
          'Cannot take the name of an environment: must be 1–256 UTF-8 bytes without control characters',
        conflict: 'The application has an environment of this name already',
        plan_limit: 'The plan free allows no more than 5 environments in an application',
      },
    },
    'DELETE /applications/:id/environments/:name': {
      operationId: 'deleteEnvironment',
      summary: 'Delete an environment with what was counted in it',
      description:
        'What was counted is removed from the disk in the background. An environment that is made later under the same name is a new one.',
      answers: { 204: done('It is deleted.') },
    },
  },
};
