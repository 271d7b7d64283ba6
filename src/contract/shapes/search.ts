import Type, { type Static } from 'typebox';
import { boolean, exampleIds, list, oneOf, orNull, shape, text } from './fields.ts';

const application = { id: exampleIds.application, name: 'shop' };

const exampleResult = {
  type: 'feature',
  name: 'checkout',
  detail: null,
  application,
  link: `/apps/${exampleIds.application}/Production/flag?name=checkout`,
} as const;

const SearchResult = shape(
  'SearchResult',
  {
    type: oneOf(['feature', 'key', 'user'], 'Kind of the result.'),
    name: text('Name of the result.'),
    detail: orNull(
      text('Further detail of the result: the first characters of a key, or the e-mail address of a user.'),
    ),
    application: orNull(
      Type.Object({ id: text('Id of the application.'), name: text('Name of the application.') }),
      'The application of a feature or key.',
    ),
    link: text('Path and query of the console page of the result, below the base URL.'),
  },
  exampleResult,
);
export type SearchResult = Static<typeof SearchResult>;

export const SearchResults = shape(
  'SearchResults',
  {
    items: list(SearchResult, 'Results, the best first.'),
    complete: boolean(
      'True if the server has read all names since its startup. Otherwise a later search can find more.',
    ),
    similar: Type.Optional(SearchResult),
  },
  { items: [exampleResult], complete: true },
);
export type SearchResults = Static<typeof SearchResults>;
