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
  since: orNull(time('Start of this state; `null` if unknown.')),
  variant: orNull(text('The only variant in use, whose branch of the code stays; `null` if no branch is in use.')),
  next: oneOf(
    ['remove', 'keep_variant', 'archive'],
    'Next step. `remove`: remove the feature from the code, then archive it. `keep_variant`: keep the branch of the variant, and remove the rest. `archive`: archive the feature, because the code no longer names it.',
  ),
  nextText: text('The next step as a sentence.'),
  environments: list(text('Name of an environment.'), 'Environments that the verdict is about.'),
  declared: boolean('True if the team has declared the feature.'),
  ...owned,
  reasons: list(Reason, 'Evidence, the most important first.'),
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

/** Maximum number of listed features that can be removed, and of listed features that cannot be removed. */
export const maxCleanup = 200;

export const Cleanup = shape(
  'Cleanup',
  {
    at: time('Time of computation.'),
    items: list(Item, `Features that can be removed, at most ${maxCleanup}: safe ones first, then by time.`),
    total: count('Number of all features that can be removed.'),
    blocked: list(Blocked, `Apparently unused features that cannot be removed yet, at most ${maxCleanup}.`),
    blockedTotal: count('Number of all features that cannot be removed yet.'),
    pullRequest: orNull(PullRequest, 'Text for all listed features; `null` without features.'),
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
        nextText: 'Remove it from the code, then archive it.',
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
    blocked: [],
    blockedTotal: 0,
    pullRequest: examplePullRequest,
  },
);
export type Cleanup = Static<typeof Cleanup>;
