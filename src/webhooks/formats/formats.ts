import { codeSpan } from '../../contract/code-span.ts';
import type { WebhookFormat } from '../../contract/webhook-formats.ts';
import type { Words } from '../../contract/words.ts';
import type { Webhook, WebhookDelivery } from '../../storage/lmdb/webhook-records.ts';
import { type Message, messageOf } from './message.ts';
import { clipped, factIn, fitting, plain, sentenceIn, type Writing } from './text.ts';

/** The settings of a webhook that decide the body of its deliveries. */
type Formatted = Pick<Webhook, 'format' | 'project' | 'issueType'>;

const bodies: Readonly<
  Record<Exclude<WebhookFormat, 'standard'>, (message: Message, webhook: Formatted) => object>
> = {
  slack: slackBody,
  teams: teamsBody,
  github: githubBody,
  gitlab: gitlabBody,
  jira: jiraBody,
};

export function formatOf({ format = 'standard' }: Formatted): WebhookFormat {
  return format;
}

/** @param consoleUrl base URL of the console, for links */
export function bodyOf(
  webhook: Formatted,
  { id, body }: Pick<WebhookDelivery, 'id' | 'body'>,
  consoleUrl: string,
): string {
  const format = formatOf(webhook);
  if (format === 'standard') return body;
  return JSON.stringify(bodies[format](messageOf(body, id, consoleUrl), webhook));
}

/** The limit of a text object (https://docs.slack.dev/reference/block-kit/composition-objects/text-object). */
const mostInBlock = 3000;

/** A message of an incoming webhook (https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks). */
function slackBody({ sentence, facts, link }: Message): object {
  const lines = facts.map(([label, value]) => `*${label}:* ${factIn(mrkdwn, value)}`);
  return {
    text: escaped(sentenceIn(plain, sentence)),
    blocks: [
      section(`${sentenceIn(mrkdwn, sentence)}.`),
      section(fitting(lines, mostInBlock)),
      section(`<${escaped(link)}|Open in flagmeter>`),
    ],
  };
}

/** Names are code: Slack parses neither formatting, nor emoji, nor mentions in it. */
const mrkdwn: Writing = {
  own: escaped,
  name: (text) => `\`${escaped(text.replaceAll('`', 'ˋ'))}\``,
};

/** `verbatim`: channels and people that the text names do not become links. */
function section(text: string): object {
  return { type: 'section', text: { type: 'mrkdwn', text, verbatim: true } };
}

/** Slack's control characters (https://docs.slack.dev/messaging/formatting-message-text#escaping). `<!channel>` is a mention. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/**
 * A message for the workflow "Send webhook alerts to a channel" of Microsoft Teams, with an Adaptive Card
 * (https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using). The texts are runs:
 * these know no Markdown (https://adaptivecards.io/explorer/TextRun.html). Texts of others are bounded, so the message is smaller than
 * the limit of 28 KB.
 */
function teamsBody({ sentence, facts, link }: Message): object {
  return {
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        contentUrl: null,
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          fallbackText: sentenceIn(plain, sentence),
          body: [
            {
              type: 'RichTextBlock',
              inlines: [run(`${sentenceIn(plain, sentence)}.`, { weight: 'Bolder' })],
            },
            ...facts.map(factBlock),
          ],
          actions: [{ type: 'Action.OpenUrl', title: 'Open in flagmeter', url: link }],
        },
      },
    ],
  };
}

function factBlock([label, value]: readonly [string, Words]): object {
  const inlines = [run(`${label}: `, { isSubtle: true }), run(factIn(plain, value))];
  return { type: 'RichTextBlock', spacing: 'Small', inlines };
}

function run(text: string, style: object = {}): object {
  return { type: 'TextRun', text, ...style };
}

/** Bodies that open an issue. The text names the delivery, so that a repeated one is recognised. */

/** Shortest limits of a title: 255 characters on GitLab and Jira. */
const mostInTitle = 255;
/** Below the limits of all trackers: 32 767 characters in Jira. */
const mostInText = 30_000;

/** https://docs.github.com/rest/issues/issues#create-an-issue */
function githubBody(message: Message): object {
  return { title: titleOf(message), body: markdownOf(message) };
}

/** https://docs.gitlab.com/api/issues/#new-issue */
function gitlabBody(message: Message): object {
  return { title: titleOf(message), description: markdownOf(message) };
}

/** Version 2 of the API, which Jira Cloud and Data Center have: https://developer.atlassian.com/cloud/jira/platform/rest/v2/ */
function jiraBody(message: Message, { project, issueType }: Pick<Webhook, 'project' | 'issueType'>): object {
  const { sentence, facts, link, deliveryId } = message;
  const lines = [
    `${sentenceIn(wiki, sentence)}.`,
    '',
    ...facts.map(([label, value]) => `* *${label}:* ${factIn(wiki, value)}`),
    '',
    `[Open in flagmeter|${link}]`,
    '',
    wiki.own(`Delivery ${deliveryId}`),
  ];
  const description = fitting(lines, mostInText);
  return {
    fields: {
      project: { key: project },
      issuetype: { name: issueType },
      summary: titleOf(message),
      description,
    },
  };
}

function titleOf({ sentence }: Message): string {
  return clipped(sentenceIn(plain, sentence), mostInTitle);
}

function markdownOf({ sentence, facts, link, deliveryId }: Message): string {
  const lines = [
    `${sentenceIn(markdown, sentence)}.`,
    '',
    ...facts.map(([label, value]) => `- **${label}:** ${factIn(markdown, value)}`),
    '',
    `[Open in flagmeter](${link})`,
    '',
    `Delivery \`${deliveryId}\``,
  ];
  return fitting(lines, mostInText);
}

/** Names are code spans: mentions, references, links, HTML and quick actions have no effect in them. */
const markdown: Writing = { own: (text) => text, name: codeSpan };

/** Jira's text formatting notation. Two backslashes would break the line, so one is an entity. */
const wiki: Writing = { own: wikiEscaped, name: wikiEscaped };

const entities: Readonly<Record<string, string>> = { '\\': '&#92;', '&': '&#38;', ':': '&#58;' };

function wikiEscaped(text: string): string {
  return text.replace(
    /[![\]^~+?%{}()*_|@-]|\\|&(?=#?\w+;)|:(?=\/\/)/g,
    (character) => entities[character] ?? `\\${character}`,
  );
}
