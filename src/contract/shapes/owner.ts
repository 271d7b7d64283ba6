import Type, { type Static } from 'typebox';
import { exampleIds, list, oneOf, orNull, printable, shape, text } from './fields.ts';

export const maxOwners = 8;
const maxTags = 16;

/** Source of the owners of a flag: the team's declaration, or CODEOWNERS of the last code scan. */
export type OwnersFrom = 'declaration' | 'codeowners' | null;

const exampleOwner = { type: 'user', id: exampleIds.user, name: 'Ada Lovelace' } as const;

const ownerTypes = ['user', 'team', 'text'] as const;

export const Owner = shape(
  'Owner',
  {
    type: oneOf(ownerTypes, 'A user or a team of this service, or a text.'),
    id: orNull(text('Id of the user or team; `null` for a text.')),
    name: text('Name of the user or team, or the text.'),
  },
  exampleOwner,
);
export type Owner = Static<typeof Owner>;

const name = Type.String({ pattern: `^${printable}{1,100}$` });

/** An owner in a request body. An owner in the form that responses contain is also accepted. */
const GivenOwner = Type.Object(
  {
    type: oneOf(ownerTypes, 'A user or a team of this service, or a text.'),
    id: Type.Optional(
      Type.Union([Type.String(), Type.Null()], { description: 'Id of the user or team; absent for a text.' }),
    ),
    name: Type.Optional({ ...name, description: 'The text: 1 to 100 characters. Ignored for users and teams.' }),
  },
  { additionalProperties: false },
);
export type GivenOwner = Static<typeof GivenOwner>;

export const givenOwned = {
  owners: Type.Optional(
    Type.Array(GivenOwner, {
      maxItems: maxOwners,
      description: 'Owners of the feature. They take precedence over CODEOWNERS of the code scan.',
    }),
  ),
  tags: Type.Optional(
    Type.Array(Type.String({ pattern: `^${printable}{1,50}$` }), {
      maxItems: maxTags,
      description: 'Tags to find the feature by, each 1 to 50 characters.',
    }),
  ),
};

export const owners = list(Owner, 'Owners of the feature, at most 8.');

export const owned = {
  owners,
  ownersFrom: Type.Unsafe<OwnersFrom>({
    type: ['string', 'null'],
    enum: ['declaration', 'codeowners', null],
    description: 'Source of the owners: the team, or CODEOWNERS of the last code scan; `null` without owners.',
  }),
  tags: list(text('A tag.'), 'Tags to find the feature by, at most 16.'),
};

export const exampleOwned = { owners: [exampleOwner], ownersFrom: 'declaration', tags: ['checkout'] } as const;
