import { applicationPatchSchema, newApplicationSchema } from '../applications.ts';
import { done, made, one, page } from './answers.ts';
import { environment } from './environments.ts';
import type { Resource } from './operation.ts';
import { paging } from './parameters.ts';
import {
  asGiven,
  bodyShape,
  exampleIds,
  exampleTime,
  fields,
  listOf,
  referTo,
  type Shape,
  text,
  time,
} from './shape.ts';

const application: Shape = {
  name: 'Application',
  schema: fields({
    id: text('Its id.'),
    teamId: text('Id of the team that it belongs to.'),
    ...asGiven(applicationPatchSchema, 'name', 'allowedOrigins', 'acceptClientIdentities', 'rate', 'burst'),
    environments: listOf(referTo(environment), 'In the order in which they were made.'),
    createdAt: time('When it was made.'),
    updatedAt: time('When it was changed the last time.'),
  }),
  example: {
    id: exampleIds.application,
    name: 'Shop',
    teamId: exampleIds.team,
    allowedOrigins: ['https://shop.example'],
    acceptClientIdentities: false,
    rate: null,
    burst: null,
    environments: [environment.example],
    createdAt: exampleTime,
    updatedAt: exampleTime,
  },
};

const newApplication = bodyShape('NewApplication', newApplicationSchema, {
  name: 'Shop',
  allowedOrigins: ['https://shop.example', 'https://*.shop.example'],
  environments: ['Production', 'Test'],
});

const applicationPatch = bodyShape('ApplicationPatch', applicationPatchSchema, {
  acceptClientIdentities: true,
  rate: 500,
  burst: 1000,
});

const tooManyOrigins = 'Cannot have more than 100 allowed origins';
const invalidName =
  'Cannot take the name of an application: must be 1–256 UTF-8 bytes without control characters';

/** `/applications` and what is one segment below. */
export const applications: Resource = {
  tag: 'Applications',
  words: 'What sends packets and reports. An application belongs to a team.',
  shapes: [application, newApplication, applicationPatch],
  routes: {
    'GET /applications': {
      operationId: 'listApplications',
      summary: 'List the applications of your teams',
      query: paging,
      answers: { 200: page(application, 'The oldest application comes first.') },
    },
    'POST /applications': {
      operationId: 'createApplication',
      summary: 'Make an application',
      description:
        'Without `teamId` it is one of your primary team, and without `environments` it has Production, Staging and Development.',
      body: newApplication,
      answers: { 201: made(application, 'The application.') },
      refusals: {
        invalid_name: invalidName,
        not_found: 'There is no such team',
        plan_limit: 'The plan free allows no more than 3 applications in a team',
      },
    },
    'GET /applications/:id': {
      operationId: 'getApplication',
      summary: 'Read an application',
      answers: { 200: one(application, 'The application.', 'EntityTag') },
    },
    'PATCH /applications/:id': {
      operationId: 'changeApplication',
      summary: 'Change the settings that are given',
      description: 'A packet that comes after the answer is taken by the new settings.',
      body: applicationPatch,
      matches: true,
      answers: { 200: one(application, 'The application as it is now.', 'EntityTag') },
      refusals: { invalid_name: invalidName, plan_limit: tooManyOrigins },
    },
    'DELETE /applications/:id': {
      operationId: 'deleteApplication',
      summary: 'Delete an application with all that belongs to it',
      description:
        'Its keys are refused from now on. What was counted is removed from the disk in the background; the audit log says when that is done (`application.erased`).',
      answers: { 204: done('It is deleted.') },
    },
  },
};
