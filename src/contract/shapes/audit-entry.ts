import Type from 'typebox';
import { actorTypes } from '../audit.ts';
import { exampleIds, exampleTime, oneOf, orNull, shape, text, time } from './fields.ts';

export const AuditEntry = shape(
  'AuditEntry',
  {
    id: text('Its id.'),
    at: time('When it was done.'),
    actor: Type.Object({
      type: oneOf(actorTypes, 'Who did it.'),
      id: text('Id of the user, or client id of the API key; otherwise empty.'),
      name: text('The e-mail address of the user or the name of the API key at the time.'),
      address: text('Where the request came from; empty if there was none.'),
    }),
    action: text('What was done, such as `application.created`.'),
    teamId: orNull(text('Id of the team that it concerns; `null`: the whole service.')),
    target: Type.Object({
      type: text('What it was done to, such as `application`.'),
      id: text('Its id. An environment, feature or metric has that of its application.'),
      name: text('Its name at the time.'),
    }),
  },
  {
    id: '17',
    at: exampleTime,
    actor: { type: 'user', id: exampleIds.user, name: 'ada@shop.example', address: '192.0.2.1' },
    action: 'application.created',
    teamId: exampleIds.team,
    target: { type: 'application', id: exampleIds.application, name: 'Shop' },
  },
);
