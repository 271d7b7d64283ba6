import { page } from './answers.ts';
import type { Resource } from './operation.ts';
import { inQuery, paging, range } from './parameters.ts';
import { exampleIds, exampleTime, fields, oneOf, orNull, type Shape, text, time } from './shape.ts';

const entry: Shape = {
  name: 'AuditEntry',
  schema: fields({
    id: text('Its id.'),
    at: time('When it was done.'),
    actor: fields({
      type: oneOf(['user', 'api-key', 'system', 'anonymous'], 'Who did it.'),
      id: text('Id of the user, or client id of the API key; empty for the others.'),
      name: text('The e-mail address of the user or the name of the API key, as it was then.'),
      address: text('Where the request came from; empty when there was none.'),
    }),
    action: text('What was done, such as `application.created`.'),
    teamId: orNull(text('Id of the team that it concerns; `null`: the whole service.')),
    target: fields({
      type: text('What it was done to, such as `application`.'),
      id: text('Its id. An environment, feature or metric has that of its application.'),
      name: text('Its name, as it was then.'),
    }),
  }),
  example: {
    id: '17',
    at: exampleTime,
    actor: { type: 'user', id: exampleIds.user, name: 'ada@shop.example', address: '192.0.2.1' },
    action: 'application.created',
    teamId: exampleIds.team,
    target: { type: 'application', id: exampleIds.application, name: 'Shop' },
  },
};

/** `/audit`. */
export const audit: Resource = {
  tag: 'Audit',
  words: 'Who did what, when and from where. Entries are only ever added.',
  shapes: [entry],
  routes: {
    'GET /audit': {
      operationId: 'listAuditEntries',
      summary: 'Read the audit log of your teams and of the service',
      description: 'A page may be short, or empty, and still not be the last one.',
      query: [
        ...paging,
        ...range,
        inQuery(
          'action',
          'Only this action, such as `application.created`, or all that begin so: `application`.',
        ),
        inQuery('actor', 'Only what was done by who has this id.'),
      ],
      answers: { 200: page(entry, 'The latest entry comes first.') },
    },
  },
};
