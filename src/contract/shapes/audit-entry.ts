import type { Static } from 'typebox';
import Type from 'typebox';
import { actorTypes } from '../audit.ts';
import { factors } from '../sign-in.ts';
import { ChangedField } from './activity.ts';
import { exampleIds, exampleTime, list, oneOf, orNull, shape, text, time } from './fields.ts';

export const AuditEntry = shape(
  'AuditEntry',
  {
    id: text('Id of the entry.'),
    at: time('Time of the action.'),
    actor: Type.Object({
      type: oneOf(actorTypes, 'Kind of the actor.'),
      id: text('Id of the user or client id of the API key; empty for other actors.'),
      name: text('E-mail address of the user or name of the API key at the time of the action.'),
      address: text('IP address of the client; empty if no request caused the action.'),
    }),
    action: text('The action, such as `application.created`.'),
    teamId: orNull(text('Id of the team; `null` if the action concerns the whole service.')),
    target: Type.Object({
      type: text('Kind of the target, such as `application`.'),
      id: text('Id of the target; for an environment, feature or metric, the id of its application.'),
      name: text('Name of the target at the time of the action.'),
    }),
    factors: Type.Optional(
      list(oneOf(factors, 'A factor.'), 'Factors of a successful or failed sign-in; absent from other entries.'),
    ),
    provider: Type.Optional(
      text('Name of the identity provider that the user signed in with; absent from other entries.'),
    ),
    reason: Type.Optional(
      text(
        'Code of the reason why a sign-in with an identity provider was refused, or `nothing_stored` if a forgotten identity had no records.',
      ),
    ),
    applicationId: Type.Optional(
      text('Id of the application that the target belongs to. Entries of earlier versions lack the id for keys.'),
    ),
    changes: Type.Optional(
      list(
        ChangedField,
        'Changed settings. Absent if the changes were not recorded, as in entries of earlier versions.',
      ),
    ),
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
export type AuditEntry = Static<typeof AuditEntry>;
