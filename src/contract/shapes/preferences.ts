import type { Static } from 'typebox';
import Type from 'typebox';
import { maxZoneName } from '../calendar.ts';
import { bodyShape, list, orNull, shape, text } from './fields.ts';

const short = Type.String({ minLength: 1, maxLength: 64 });

const timeZone = 'Time zone of the IANA database for ranges and times; `null` for the time zone of the browser.';

const columns = Type.Array(short, { maxItems: 40, description: 'Names of the selected columns.' });

export const maxColumnPages = 20;

const favourites = Type.Array(short, { maxItems: 100, description: 'Ids of the favourite views.' });

export const Preferences = shape(
  'Preferences',
  {
    timeZone: orNull(text(timeZone)),
    columns: Type.Record(Type.String(), list(Type.String()), {
      description: 'Selected columns of each page. A page without an entry shows the default columns.',
    }),
    favourites: list(Type.String(), 'Ids of the favourite views.'),
  },
  { timeZone: 'Europe/Berlin', columns: { flags: ['checks', 'users'] }, favourites: [] },
);
export type Preferences = Static<typeof Preferences>;

export const PreferencesPatch = bodyShape(
  'PreferencesPatch',
  {
    timeZone: Type.Optional(
      Type.Union([Type.Null(), Type.String({ minLength: 1, maxLength: maxZoneName })], { description: timeZone }),
    ),
    columns: Type.Optional(
      Type.Record(short, Type.Union([Type.Null(), columns]), {
        description: `Replaces the columns of these pages; \`null\` restores the default columns. At most ${maxColumnPages} pages have an entry.`,
      }),
    ),
    favourites: Type.Optional(favourites),
  },
  { timeZone: 'Europe/Berlin' },
);
export type PreferencesPatch = Static<typeof PreferencesPatch>;

export const defaultPreferences: Preferences = { timeZone: null, columns: {}, favourites: [] };
