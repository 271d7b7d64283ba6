import Type, { type Static } from 'typebox';
import { bodyShape, flag, name, orNull, printable, shape, Time, text, time } from '../http/schema.ts';
import { exampleTime } from './answers.ts';

/** What a team declares of a feature, beside its name. */

export const description = Type.Union([Type.Null(), Type.String({ maxLength: 1000 })], {
  description: 'What the team says of it.',
});

export const archived = flag('Whether the team is done with it.');
export const permanent = flag('Whether it is meant to stay, so that nothing suggests to remove it.');

/** Until when a verdict is put off, as it is sent. */
export const snoozedUntil = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  description: 'Until when its verdict is put off; `null` for no longer.',
  ...Time,
});

export const split = Type.Union(
  [
    Type.Null(),
    Type.Unsafe<Readonly<Record<string, number>>>(
      Type.Object(
        {},
        {
          patternProperties: { '': Type.Number({ exclusiveMinimum: 0, maximum: 1_000_000 }) },
          minProperties: 1,
          maxProperties: 64,
        },
      ),
    ),
  ],
  {
    description:
      'How users are meant to be split: a positive weight for each variant. `null` if the team has not said.',
    example: { on: 1, off: 3 },
  },
);

const noteText = `^${printable}{1,500}$`;

export const exampleNote = {
  id: '1',
  at: exampleTime,
  environment: 'Production',
  text: 'Rollout to half of the users',
  by: 'ada@shop.example',
};

export const Note = shape(
  'Note',
  {
    id: text('Its id.'),
    at: time('The time that it is about.'),
    environment: orNull(text('The environment that it is about; `null` for all of them.')),
    text: text('What it says.'),
    by: text('Who wrote it: the e-mail address of a user, or the name of an API key, at that time.'),
  },
  exampleNote,
);

export type NoteShown = Static<typeof Note>;

export const NewNote = bodyShape(
  'NewNote',
  {
    text: Type.String({ pattern: noteText, description: 'What it says.' }),
    at: Type.Optional(Type.String({ description: 'The time that it is about; without one, now.', ...Time })),
    environment: Type.Optional(name('The environment that it is about; without one, all of them.')),
  },
  { text: 'Rollout to half of the users', environment: 'Production' },
);
