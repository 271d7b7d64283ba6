import Type, { type Static } from 'typebox';
import { experimentDecisions } from '../experiment-state.ts';
import { healthKinds, healthRules, healthText, severities } from '../health.ts';
import { count, exampleIds, exampleTime, list, oneOf, orNull, shape, text, time } from './fields.ts';

export const maxSubjects = 5;

const meanings = healthKinds.map((kind) => `\`${kind}\`: ${healthRules[kind].when}`);

const HealthSubject = Type.Object({
  type: oneOf(['key', 'sender', 'environment', 'feature', 'experiment', 'apiKey'], 'Kind of the subject.'),
  id: orNull(
    text('Id of the key, experiment or API key, or the name of the feature or environment; `null` for a sender.'),
  ),
  name: text('Name of the subject.'),
});
export type HealthSubject = Static<typeof HealthSubject>;

export const itemFields = {
  kind: oneOf(healthKinds, meanings.join(' ')),
  severity: oneOf(severities, 'Severity.'),
  count: count('Number of subjects.'),
  text: text('The finding in a few words.'),
  environment: orNull(
    text('Environment of the page that the link opens; `null` if the finding belongs to no environment.'),
  ),
  subjects: list(HealthSubject, `Subjects of the finding, at most ${maxSubjects}.`),
  link: text('Path and query of the console page for acting on the finding, below the base URL.'),
  sentence: Type.Optional(text('The finding as a sentence with the names of its subjects.')),
  action: Type.Optional(text('Label of the link.')),
  owners: Type.Optional(list(text('Name of an owner.'), 'Owners of the flags, or the team.')),
  since: Type.Optional(time('Time when the finding began; absent if the time is unknown.')),
  messages: Type.Optional(count('Number of refused messages.')),
  conclusion: Type.Optional(
    Type.Object(
      { outcome: text('Outcome.'), decision: oneOf(experimentDecisions, 'Decision that the result allows.') },
      { description: 'Result of the experiment.' },
    ),
  ),
};

export const exampleItem: Static<Type.TObject<typeof itemFields>> = {
  kind: 'key_leaked',
  severity: 'urgent',
  count: 1,
  text: healthText('key_leaked', 1),
  environment: null,
  subjects: [{ type: 'key', id: exampleIds.key, name: 'web' }],
  link: `/settings/application?app=${exampleIds.application}&key=${exampleIds.key}`,
  sentence: 'Key web was sent by a browser 3 times',
  action: 'Replace key',
  owners: ['Engineering'],
  since: exampleTime,
  messages: 3,
};

export const HealthItem = shape('HealthItem', itemFields, exampleItem);
export type HealthItem = Static<typeof HealthItem>;

const status = oneOf(
  [...severities, 'ok'],
  'Severity of the most severe finding. `ok`: there are no findings, and data was received.',
);

const checked = {
  status,
  at: time('Time when the response was computed. Verdicts can be up to a minute older.'),
  lastReceivedAt: orNull(time('Time when data was last received, to the minute; `null` if no data was ever received.')),
  flags: count('Number of flags that were seen or declared.'),
  items: list(HealthItem, 'Findings, the most urgent first.'),
};

export const Health = shape(
  'Health',
  { environment: orNull(text('Environment that the request selected; `null` for the whole application.')), ...checked },
  {
    environment: null,
    status: 'urgent',
    at: exampleTime,
    lastReceivedAt: exampleTime,
    flags: 12,
    items: [exampleItem],
  },
);
export type Health = Static<typeof Health>;
