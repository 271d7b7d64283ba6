import { featurePatchSchema, newFeatureSchema } from '../features.ts';
import { done, made, one, page } from './answers.ts';
import type { Resource } from './operation.ts';
import { filter, paging } from './parameters.ts';
import { asGiven, bodyShape, exampleTime, fields, orNull, type Shape, time } from './shape.ts';

const flag = (description: string) => ({ type: 'boolean', description });

const feature: Shape = {
  name: 'Feature',
  schema: fields({
    ...asGiven(newFeatureSchema, 'name', 'description'),
    declared: flag('Whether the team has declared it; otherwise it was only seen.'),
    ...asGiven(featurePatchSchema, 'archived'),
    stale: flag('Whether it has not been seen for long, and was not declared lately either.'),
    firstSeenAt: orNull(
      time('When it was seen first, to the minute; `null` if never, or if that is not known.'),
    ),
    lastSeenAt: orNull(time('When it was seen the last time, to the minute.')),
    createdAt: orNull(time('When it was declared.')),
    updatedAt: orNull(time('When what the team says of it was changed the last time.')),
  }),
  example: {
    name: 'checkout',
    description: 'The new checkout',
    declared: true,
    archived: false,
    stale: false,
    firstSeenAt: exampleTime,
    lastSeenAt: exampleTime,
    createdAt: exampleTime,
    updatedAt: exampleTime,
  },
};

const newFeature = bodyShape('NewFeature', newFeatureSchema, {
  name: 'checkout',
  description: 'The new checkout',
});

const featurePatch = bodyShape('FeaturePatch', featurePatchSchema, { archived: true });

const refusals = {
  plan_limit: 'The plan free allows no more than 200 declared features of an application',
  backpressure: 'Too many reports are waiting',
} as const;

const unknown = 'There is no such feature: it is not declared, and no packet has named it';

/** `/applications/{id}/features` and what is below. */
export const features: Resource = {
  tag: 'Features',
  words: 'The registry: features that a team has declared, and those that packets and reports have named.',
  shapes: [feature, newFeature, featurePatch],
  routes: {
    'GET /applications/:id/features': {
      operationId: 'listFeatures',
      summary: 'List the features of an application',
      query: [
        ...paging,
        filter('archived', 'Only features that are archived, or only those that are not.'),
        filter('declared', 'Only features that are declared, or only those that were just seen.'),
        filter('stale', 'Only features that are stale, or only those that are not.'),
      ],
      answers: { 200: page(feature, 'Features come in the order of their names.') },
      refusals: { backpressure: refusals.backpressure },
    },
    'POST /applications/:id/features': {
      operationId: 'declareFeature',
      summary: 'Declare a feature',
      body: newFeature,
      answers: { 201: made(feature, 'The feature.', 'EntityTag') },
      refusals: {
        ...refusals,
        invalid_name: 'Cannot take the name of a feature: __other__ stands for all that is over a limit',
        conflict: 'The application has a declared feature of this name already',
      },
    },
    'GET /applications/:id/features/:feature': {
      operationId: 'getFeature',
      summary: 'Read a feature',
      answers: { 200: one(feature, 'The feature. Its `ETag` is not changed by being seen.', 'EntityTag') },
      refusals: { backpressure: refusals.backpressure, not_found: unknown },
    },
    'PATCH /applications/:id/features/:feature': {
      operationId: 'changeFeature',
      summary: 'Change what is given of a feature',
      description: 'A feature that was only seen is declared by it.',
      body: featurePatch,
      matches: true,
      answers: { 200: one(feature, 'The feature as it is now.', 'EntityTag') },
      refusals: { ...refusals, not_found: unknown },
    },
    'DELETE /applications/:id/features/:feature': {
      operationId: 'deleteFeature',
      summary: 'Remove what was declared of a feature',
      description: 'What was counted of it stays, and so does the feature when it was ever seen.',
      answers: { 204: done('It is declared no more.') },
    },
  },
};
