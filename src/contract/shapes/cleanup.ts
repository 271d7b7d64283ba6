import Type, { type Static } from 'typebox';
import { FeatureCode } from './code-scan.ts';
import { boolean, count, exampleTime, getExample, list, oneOf, orNull, shape, text, time } from './fields.ts';
import { exampleOwned, owned } from './owner.ts';
import { Reason, verdictKind } from './verdict.ts';

const PullRequest = Type.Object(
  { title: text('Title, one line.'), body: text('Text in Markdown. User-supplied names and reasons are escaped.') },
  { description: 'Text for a pull request that removes the features from the code.' },
);
export type PullRequest = Static<typeof PullRequest>;

const Item = Type.Object({
  feature: text('Name of the feature.'),
  verdict: verdictKind('Kind of the verdict on the feature: `safe_to_remove` or `one_variant`.'),
  since: orNull(time('Time since which the verdict applies; `null` if unknown.')),
  variant: orNull(text('The only variant in use, whose branch of the code stays; `null` if no branch is in use.')),
  next: oneOf(
    ['remove', 'keep_variant', 'archive'],
    'Next step. `remove`: remove the feature from the code, then archive it. `keep_variant`: keep the branch of the variant, and remove the rest. `archive`: archive the feature, because the code no longer names it.',
  ),
  nextText: text('The next step as a sentence.'),
  environments: list(text('Name of an environment.'), 'Environments that the verdict is about.'),
  declared: boolean('True if the team has declared the feature.'),
  ...owned,
  reasons: list(Reason, 'Evidence for the verdict, the most important first.'),
  code: list(FeatureCode, 'Places of the feature in the code, by repository.'),
  pullRequest: PullRequest,
});
export type CleanupItem = Static<typeof Item>;

const Blocked = Type.Object({
  feature: text('Name of the feature.'),
  verdict: verdictKind('Kind of the verdict on the feature.'),
  owners: owned.owners,
  why: Type.Object(Reason.properties, { description: 'Reason why the feature cannot be removed yet.' }),
});

const examplePullRequest = { title: 'Remove the flag old-banner', body: 'Removes the flag `old-banner`.\n' };

const exampleReason = {
  code: 'not_named',
  text: `No packet and no report has named it since ${exampleTime}.`,
  at: exampleTime,
  names: [],
} as const;

/** Maximum length of each of the two lists: features that can be removed, and features that cannot be removed yet. */
export const maxCleanup = 200;

/** Number of days of `history`. */
export const historyDays = 90;

export const Cleanup = shape(
  'Cleanup',
  {
    at: time('Time when the response was computed.'),
    items: list(
      Item,
      `Features that can be removed, at most ${maxCleanup}, sorted by time. Features that are safe to remove come first.`,
    ),
    total: count('Number of all features that can be removed.'),
    history: list(
      count('Number of features.'),
      `Number of removable features at the end of each of the last ${historyDays} UTC days, oldest first; today comes last. Computed from the present verdicts: a feature counts from the day on which its silence, or its single variant, had lasted long enough, until the day on which it was archived.`,
    ),
    blocked: list(Blocked, `Apparently unused features that cannot be removed yet, at most ${maxCleanup}.`),
    blockedTotal: count('Number of all features that cannot be removed yet.'),
    pullRequest: orNull(
      PullRequest,
      'Text of a pull request that removes all listed features; `null` if no feature is listed.',
    ),
  },
  {
    at: exampleTime,
    items: [
      {
        feature: 'old-banner',
        verdict: 'safe_to_remove',
        since: exampleTime,
        variant: null,
        next: 'remove',
        nextText: 'Remove the flag from the code, then archive the flag.',
        environments: ['Production'],
        declared: true,
        ...exampleOwned,
        owners: [...exampleOwned.owners],
        tags: [...exampleOwned.tags],
        reasons: [{ ...exampleReason, names: [] }],
        code: [getExample(FeatureCode)],
        pullRequest: examplePullRequest,
      },
    ],
    total: 1,
    history: [...new Array<number>(historyDays - 1).fill(0), 1],
    blocked: [],
    blockedTotal: 0,
    pullRequest: examplePullRequest,
  },
);
export type Cleanup = Static<typeof Cleanup>;
