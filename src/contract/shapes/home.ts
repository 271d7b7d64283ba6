import Type, { type Static } from 'typebox';
import { severities } from '../health.ts';
import { boolean, count, exampleIds, exampleTime, list, number, oneOf, orNull, shape, text, time } from './fields.ts';
import { exampleItem, itemFields } from './health.ts';

const application = { id: exampleIds.application, name: 'shop' };

const ofApplication = (what: string) =>
  orNull(
    Type.Object({ id: text('Id of the application.'), name: text('Name of the application.') }),
    `Application of the ${what}; \`null\` if the ${what} concerns a team.`,
  );

const HomeItem = Type.Object({ ...itemFields, application: ofApplication('finding') });
export type HomeItem = Static<typeof HomeItem>;

const ComingUp = Type.Object({
  kind: oneOf(['rollout_step', 'experiment_end', 'api_key_expiry', 'key_expiry'], 'Kind of the event.'),
  at: time('Planned time.'),
  sentence: text('The event as a sentence.'),
  application: ofApplication('event'),
  link: text('Path and query of the console page about the event, below the base URL.'),
});
export type ComingUp = Static<typeof ComingUp>;

const byHour = (description: string) => list(Type.Integer({ minimum: 0 }), description);

const HomeApplication = Type.Object({
  id: text('Id of the application.'),
  name: text('Name of the application.'),
  environments: list(text('Name of an environment.'), 'Environments of the application, the oldest first.'),
  status: oneOf(
    [...severities, 'ok', 'unknown'],
    'The severity of the most severe finding; `unknown` until the verdicts on the flags are known.',
  ),
  accepted: count(
    'Number of accepted packets and reports in the last 24 hours, including the current, incomplete hour.',
  ),
  refused: count('Refused packets and reports in the same hours.'),
  hourly: Type.Object({
    start: Type.Integer({ minimum: 0, description: 'Start of the first hour, Unix seconds.' }),
    accepted: byHour('Accepted packets and reports by hour.'),
    refused: byHour('Refused packets and reports by hour.'),
  }),
  rate: Type.Object({
    perSecond: number('Accepted packets and reports per second.'),
    overSeconds: count(
      'Length of the averaging period, in seconds. The period is shorter if a request for this report was made recently.',
    ),
  }),
  lastReceivedAt: orNull(
    time('Time of the last accepted packet or report; `null` if no packet or report was ever accepted.'),
  ),
  flags: orNull(count('Number of flags that were seen or declared; `null` until the flags are counted.')),
  flagsThatCanGo: orNull(count('Number of flags that can be removed; `null` until the flags are counted.')),
  leakedKeys: count('Number of Backend keys that were seen in packets.'),
});
export type HomeApplication = Static<typeof HomeApplication>;

export const Home = shape(
  'Home',
  {
    at: time('Time when the response was computed. Verdicts can be up to five minutes older.'),
    complete: boolean(
      'True if all applications were checked. Otherwise a later response has the figures of the remaining applications.',
    ),
    items: list(HomeItem, 'Findings of all applications, the most urgent first.'),
    itemsLeftOut: count('Number of findings that the response omits.'),
    comingUp: list(
      ComingUp,
      'The next steps of rollouts, ends of experiments and expiries of keys within 14 days, the earliest first; at most 20. Only Admins see the expiry of API keys.',
    ),
    applications: list(HomeApplication, 'Applications, by name.'),
    applicationsLeftOut: count('Number of applications that the response omits.'),
  },
  {
    at: exampleTime,
    complete: true,
    items: [{ ...exampleItem, application }],
    itemsLeftOut: 0,
    comingUp: [
      {
        kind: 'experiment_end' as const,
        at: exampleTime,
        sentence: 'Experiment One page ends',
        application,
        link: `/apps/${application.id}/Production/experiment?id=exp_1`,
      },
    ],
    applications: [
      {
        ...application,
        environments: ['Production', 'Staging'],
        status: 'urgent',
        accepted: 1200,
        refused: 3,
        hourly: { start: 1_769_428_800, accepted: [1200], refused: [3] },
        rate: { perSecond: 0.4, overSeconds: 60 },
        lastReceivedAt: exampleTime,
        flags: 12,
        flagsThatCanGo: 2,
        leakedKeys: 1,
      },
    ],
    applicationsLeftOut: 0,
  },
);
export type Home = Static<typeof Home>;
