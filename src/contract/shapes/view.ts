import Type, { type Static } from 'typebox';
import {
  bodyShape,
  boolean,
  exampleTime,
  name as nameOf,
  oneOf,
  optional,
  orNull,
  shape,
  text,
  time,
} from './fields.ts';
import { createFields, newName, option } from './option.ts';

/** Pages of an environment whose filters and order can be saved as a view. */
const viewPages = ['flags', 'experiments', 'cleanup', 'activity', 'metrics', 'ingest'] as const;
export type ViewPage = (typeof viewPages)[number];

export const maxViews = 100;

const name = nameOf('Name of the view.');

const page = oneOf(viewPages, 'Page of an environment that the view belongs to.');

const queryText =
  'Choices on the page, written like the query of its address without `?`: `state=new&sort=-checks`. The environment is not part of a view.';
const query = Type.String({ maxLength: 2000, pattern: "^[-\\w.~%!$'()*+,;:@/?=&]*$", description: queryText });

const shared = boolean(
  'True if everyone who can see the application can see the view. A private view is visible to its author only.',
);

const example = { name: 'New flags', page: 'flags', query: 'state=new&sort=-checks', shared: true } as const;

export const SavedView = shape(
  'SavedView',
  {
    id: text('Id of the view.'),
    name,
    page,
    query: text(queryText),
    shared,
    by: orNull(
      text(
        'E-mail address of the author, or name of the API key; `null` if the author was deleted or is not in the team.',
      ),
    ),
    mine: boolean('True if the caller is the author of the view.'),
    createdAt: time('Time of creation.'),
    updatedAt: time('Time of the last change.'),
  },
  {
    id: `view_${'0'.repeat(23)}9`,
    ...example,
    by: 'ada@shop.example',
    mine: true,
    createdAt: exampleTime,
    updatedAt: exampleTime,
  },
);
export type SavedView = Static<typeof SavedView>;

export const NewView = bodyShape(
  'NewView',
  { name, page, query: Type.Optional(query), shared: Type.Optional(shared) },
  example,
);
export type NewView = Static<typeof NewView>;

export const ViewPatch = bodyShape('ViewPatch', optional({ name, query, shared }), {
  name: 'New flags',
  query: 'state=new',
});
export type ViewPatch = Static<typeof ViewPatch>;

const queryOption = option('query QUERY', 'Choices on the page: state=new&sort=-checks');
const sharedOption = option('shared true|false', 'Shared with everyone who can see the application');

export const viewOptions = {
  create: createFields(NewView, {
    name: null,
    page: option('page PAGE', 'Page of the console'),
    query: queryOption,
    shared: { ...sharedOption, more: 'default: false, visible to you only' },
  }),
  update: createFields(ViewPatch, { name: newName, query: queryOption, shared: sharedOption }),
};
