import Type from 'typebox';
import { exampleIds, exampleTime, oneOf, shape, text, time } from './fields.ts';

export const Deletion = shape(
  'Deletion',
  {
    target: Type.Object({
      type: oneOf(['application', 'environment'], 'What was deleted.'),
      id: text('Id of the application.'),
      name: text('Its name at the time.'),
    }),
    teamId: text('Id of the team that it belonged to.'),
    requestedAt: time('When it was deleted.'),
  },
  {
    target: { type: 'environment', id: exampleIds.application, name: 'Staging' },
    teamId: exampleIds.team,
    requestedAt: exampleTime,
  },
);
