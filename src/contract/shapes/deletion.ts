import Type, { type Static } from 'typebox';
import { exampleIds, exampleTime, oneOf, shape, text, time } from './fields.ts';

export const Deletion = shape(
  'Deletion',
  {
    target: Type.Object({
      type: oneOf(['application', 'environment'], 'Kind of the deleted resource.'),
      id: text('Id of the application.'),
      name: text('Name of the resource when it was deleted.'),
    }),
    teamId: text('Id of the team that owned the resource.'),
    requestedAt: time('Time of the deletion.'),
  },
  {
    target: { type: 'environment', id: exampleIds.application, name: 'Staging' },
    teamId: exampleIds.team,
    requestedAt: exampleTime,
  },
);
export type Deletion = Static<typeof Deletion>;
