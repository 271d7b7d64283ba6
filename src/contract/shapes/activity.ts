import Type, { type Static } from 'typebox';
import { activityKindNames } from '../activity.ts';
import { actorTypes } from '../audit.ts';
import { exampleTime, list, oneOf, orNull, shape, text, time } from './fields.ts';

/** A changed setting, with its previous and new value as text. */
export const ChangedField = Type.Object({
  field: text('Name of the setting, or of the variant.'),
  from: orNull(text('Previous value; `null` if the setting had no value.')),
  to: orNull(text('New value; `null` if the setting has no value now.')),
});
export type ChangedField = Static<typeof ChangedField>;

export const ActivityItem = shape(
  'ActivityItem',
  {
    id: text('Id of the item. The same fact has the same id in each response.'),
    at: time('Time of the change.'),
    kind: oneOf(activityKindNames, 'Kind of the change.'),
    environment: orNull(text('Name of the environment; `null` if the change concerns all environments.')),
    feature: orNull(text('Name of the feature; `null` if the change concerns no feature.')),
    subject: orNull(text('Name of the key, sender, variant or metric that the change concerns.')),
    text: text('Description of the change, without the name of the feature.'),
    by: orNull(
      Type.Object({
        type: oneOf(actorTypes, 'Kind of the author.'),
        name: orNull(
          text(
            'E-mail address of the user or name of the API key; `null` if the caller may not know the author: see docs/access.md.',
          ),
        ),
      }),
      'Author of the change; `null` for a change in the data.',
    ),
    changes: list(ChangedField, 'The changed settings, or the shares of variants.'),
    until: orNull(
      time(
        'End of a period, such as an episode of refusals; `null` if the period continues, or the change has no duration.',
      ),
    ),
  },
  {
    id: 'split_moved-6b1f0c8a52d94e07',
    at: exampleTime,
    kind: 'split_moved',
    environment: 'Production',
    feature: 'checkout',
    subject: 'on',
    text: 'Split moved: on 50% → 80%, off 50% → 20%',
    by: null,
    changes: [
      { field: 'on', from: '50%', to: '80%' },
      { field: 'off', from: '50%', to: '20%' },
    ],
    until: null,
  },
);
export type ActivityItem = Static<typeof ActivityItem>;
