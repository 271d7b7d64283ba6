import { page } from './answers.ts';
import type { Resource } from './operation.ts';
import { paging } from './parameters.ts';
import { exampleIds, exampleTime, fields, oneOf, type Shape, text, time } from './shape.ts';

const deletion: Shape = {
  name: 'Deletion',
  schema: fields({
    target: fields({
      type: oneOf(['application', 'environment'], 'What was deleted.'),
      id: text('Id of the application.'),
      name: text('Its name, as it was then.'),
    }),
    teamId: text('Id of the team that it belonged to.'),
    requestedAt: time('When it was deleted.'),
  }),
  example: {
    target: { type: 'environment', id: exampleIds.application, name: 'Staging' },
    teamId: exampleIds.team,
    requestedAt: exampleTime,
  },
};

/** `/deletions`. */
export const deletions: Resource = {
  tag: 'Deletions',
  words:
    'What was counted for a deleted application or environment is removed in the background. It is listed here until nothing is left; then the audit log says so.',
  shapes: [deletion],
  routes: {
    'GET /deletions': {
      operationId: 'listDeletions',
      summary: 'List what is still being removed in your teams',
      query: paging,
      answers: { 200: page(deletion, 'The order is fixed, and means nothing.') },
    },
  },
};
