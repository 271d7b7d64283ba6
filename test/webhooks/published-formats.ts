import Type, { type TSchema } from 'typebox';

/** Documented rules of a vendor for the body of a request. */
export interface PublishedFormat {
  readonly schema: TSchema;
  readonly maxBytes: number;
}

const closed = { additionalProperties: false };

/**
 * Slack: an incoming webhook takes `text` and up to 50 `blocks`; a text object has 1 to 3000 characters.
 * https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks
 * https://docs.slack.dev/reference/block-kit/blocks/section-block
 * https://docs.slack.dev/reference/block-kit/composition-objects/text-object
 */
const slack = Type.Object(
  {
    text: Type.String({ minLength: 1, maxLength: 4000 }),
    blocks: Type.Array(
      Type.Object(
        {
          type: Type.Literal('section'),
          text: Type.Object(
            {
              type: Type.Literal('mrkdwn'),
              text: Type.String({ minLength: 1, maxLength: 3000 }),
              verbatim: Type.Literal(true),
            },
            closed,
          ),
        },
        closed,
      ),
      { minItems: 1, maxItems: 50 },
    ),
  },
  closed,
);

const textRun = Type.Object(
  {
    type: Type.Literal('TextRun'),
    text: Type.String({ minLength: 1 }),
    weight: Type.Optional(Type.Enum(['Lighter', 'Default', 'Bolder'])),
    isSubtle: Type.Optional(Type.Boolean()),
  },
  closed,
);

/**
 * Microsoft Teams: a message with an Adaptive Card, of at most 28 KB.
 * https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using
 * https://adaptivecards.io/explorer/AdaptiveCard.html
 */
const teams = Type.Object(
  {
    type: Type.Literal('message'),
    attachments: Type.Tuple([
      Type.Object(
        {
          contentType: Type.Literal('application/vnd.microsoft.card.adaptive'),
          contentUrl: Type.Null(),
          content: Type.Object(
            {
              $schema: Type.Literal('http://adaptivecards.io/schemas/adaptive-card.json'),
              type: Type.Literal('AdaptiveCard'),
              version: Type.Literal('1.4'),
              fallbackText: Type.String(),
              body: Type.Array(
                Type.Object(
                  {
                    type: Type.Literal('RichTextBlock'),
                    spacing: Type.Optional(Type.Enum(['None', 'Small', 'Default', 'Medium', 'Large'])),
                    inlines: Type.Array(textRun, { minItems: 1 }),
                  },
                  closed,
                ),
                { minItems: 1 },
              ),
              actions: Type.Array(
                Type.Object(
                  {
                    type: Type.Literal('Action.OpenUrl'),
                    title: Type.String(),
                    url: Type.String({ pattern: '^https://[!-~]+$' }),
                  },
                  closed,
                ),
                { maxItems: 6 },
              ),
            },
            closed,
          ),
        },
        closed,
      ),
    ]),
  },
  closed,
);

/** GitHub: `title`, and `body` of at most 65 536 characters. https://docs.github.com/rest/issues/issues#create-an-issue */
const github = Type.Object(
  {
    title: Type.String({ minLength: 1, maxLength: 256, pattern: '^[^\\n]+$' }),
    body: Type.String({ minLength: 1, maxLength: 65_536 }),
  },
  closed,
);

/** GitLab: `title` of at most 255 characters, and `description`. https://docs.gitlab.com/api/issues/#new-issue */
const gitlab = Type.Object(
  {
    title: Type.String({ minLength: 1, maxLength: 255, pattern: '^[^\\n]+$' }),
    description: Type.String({ minLength: 1, maxLength: 1_048_576 }),
  },
  closed,
);

/**
 * Jira: `summary` of at most 255 characters in one line, and `description` of at most 32 767.
 * https://developer.atlassian.com/server/jira/platform/jira-rest-api-example-create-issue-7897248/
 */
const jira = Type.Object(
  {
    fields: Type.Object(
      {
        project: Type.Object({ key: Type.Literal('SHOP') }, closed),
        issuetype: Type.Object({ name: Type.Literal('Task') }, closed),
        summary: Type.String({ minLength: 1, maxLength: 255, pattern: '^[^\\n]+$' }),
        description: Type.String({ minLength: 1, maxLength: 32_767 }),
      },
      closed,
    ),
  },
  closed,
);

const kib = 1024;

export const published = {
  slack: { schema: slack, maxBytes: 100 * kib },
  teams: { schema: teams, maxBytes: 28 * kib },
  github: { schema: github, maxBytes: 1024 * kib },
  gitlab: { schema: gitlab, maxBytes: 1024 * kib },
  jira: { schema: jira, maxBytes: 1024 * kib },
} satisfies Record<string, PublishedFormat>;

/** Names of 256 bytes that grow when they are escaped. */
export const longest = ['&', '<', '`', '"', '\\', '{', 'a'].map((character) => character.repeat(256));
