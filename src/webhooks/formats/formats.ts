import { codeSpan, replaceActive } from '../../contract/escaping.ts';
import {
  type EventMessage,
  eventMessage,
  type OfTeam,
  type SentEventType,
  type WebhookEventData,
} from '../../contract/webhook-events.ts';
import type { WebhookFormat } from '../../contract/webhook-formats.ts';
import { type Words, words } from '../../contract/words.ts';
import type { Webhook, WebhookDelivery } from '../../storage/lmdb/records.ts';

/** The settings of a webhook that determine the body of its deliveries. */
type FormatSettings = Pick<Webhook, 'format' | 'project' | 'issueType'>;

const bodies: Readonly<
  Record<Exclude<WebhookFormat, 'standard'>, (message: Message, webhook: FormatSettings) => object>
> = { slack: slackBody, teams: teamsBody, github: githubBody, gitlab: gitlabBody, jira: jiraBody };

export function getFormat({ format = 'standard' }: FormatSettings): WebhookFormat {
  return format;
}

/** @param consoleUrl base URL of the console, for links */
export function formatBody(
  webhook: FormatSettings,
  { id, body }: Pick<WebhookDelivery, 'id' | 'body'>,
  consoleUrl: string,
): string {
  const format = getFormat(webhook);
  if (format === 'standard') return body;
  return JSON.stringify(bodies[format](readMessage(body, id, consoleUrl), webhook));
}

/** Maximum length of a text object (https://docs.slack.dev/reference/block-kit/composition-objects/text-object). */
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

/** Names are formatted as code, in which Slack parses no formatting, emoji or mentions. */
const mrkdwn: Notation = { own: escaped, name: (text) => `\`${escaped(text.replaceAll('`', 'ˋ'))}\`` };

/** With `verbatim`, channels and people named in the text do not become links. */
function section(text: string): object {
  return { type: 'section', text: { type: 'mrkdwn', text, verbatim: true } };
}

/** Escapes Slack's control characters (https://docs.slack.dev/messaging/formatting-message-text#escaping). */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/**
 * A message for the workflow "Send webhook alerts to a channel" of Microsoft Teams, with an Adaptive Card
 * (https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using). The texts are
 * `TextRun` elements, which do not support Markdown (https://adaptivecards.io/explorer/TextRun.html). Texts from other
 * sources are truncated, so the message stays below the limit of 28 KB.
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
            { type: 'RichTextBlock', inlines: [run(`${sentenceIn(plain, sentence)}.`, { weight: 'Bolder' })] },
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

/** Bodies that open an issue. The text contains the delivery id, so that people recognise a repeated delivery. */

/** Maximum length of a title in all trackers: GitLab and Jira allow 255 characters. */
const mostInTitle = 255;
/** Maximum length of a description, below the limits of all trackers: Jira allows 32 767 characters. */
const mostInText = 30_000;

/** The body of a new issue: https://docs.github.com/rest/issues/issues#create-an-issue */
function githubBody(message: Message): object {
  return { title: formatTitle(message), body: formatMarkdown(message) };
}

/** The body of a new issue: https://docs.gitlab.com/api/issues/#new-issue */
function gitlabBody(message: Message): object {
  return { title: formatTitle(message), description: formatMarkdown(message) };
}

/** Body for version 2 of the API of Jira: https://developer.atlassian.com/cloud/jira/platform/rest/v2/ */
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
    fields: { project: { key: project }, issuetype: { name: issueType }, summary: formatTitle(message), description },
  };
}

function formatTitle({ sentence }: Message): string {
  return clipped(sentenceIn(plain, sentence), mostInTitle);
}

function formatMarkdown({ sentence, facts, link, deliveryId }: Message): string {
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

/** Names are formatted as code spans, in which mentions, references, links, HTML and quick actions have no effect. */
const markdown: Notation = { own: (text) => text, name: codeSpan };

/** Jira's text formatting notation. Two backslashes would break the line, so a backslash is written as an entity. */
const wiki: Notation = { own: wikiEscaped, name: wikiEscaped };

const entities: Readonly<Record<string, string>> = { '\\': '&#92;', '&': '&#38;', ':': '&#58;' };

function wikiEscaped(text: string): string {
  return text.replace(
    /[![\]^~+?%{}()*_|@-]|\\|&(?=#?\w+;)|:(?=\/\/)/g,
    (character) => entities[character] ?? `\\${character}`,
  );
}

/** An event in the form that every format renders. */
interface Message extends Pick<EventMessage, 'sentence' | 'facts'> {
  /** The URL of the event's page in the console. */
  readonly link: string;
  readonly deliveryId: string;
}

interface Event<Type extends SentEventType> {
  readonly type: Type;
  readonly timestamp: string;
  readonly data: WebhookEventData[Type] & OfTeam;
}

/** @param body the event in the standard format */
function readMessage(body: string, deliveryId: string, consoleUrl: string): Message {
  const event = JSON.parse(body) as Event<SentEventType>;
  const { sentence, facts, page } = messageOfKnown(event) ?? messageOfLater(event);
  const path = page.path.map((segment) => `/${encoded(segment)}`).join('');
  const query = Object.entries(page.query ?? {}).map(([name, value]) => `${name}=${encoded(value)}`);
  const link = `${consoleUrl.replace(/\/$/, '')}${path || '/'}${query.length > 0 ? `?${query.join('&')}` : ''}`;
  return { sentence, facts: [...facts, ['Team', words`${event.data.team.name}`]], link, deliveryId };
}

/** Returns the message of an event; `undefined` if a later release queued it with unknown values. */
function messageOfKnown<Type extends SentEventType>({ type, data }: Event<Type>): EventMessage | undefined {
  try {
    return eventMessage(type, data);
  } catch {
    return undefined;
  }
}

/** The message of an unknown event from a later release. */
function messageOfLater({ type }: Event<SentEventType>): EventMessage {
  return { sentence: words`The event ${type} has occurred`, facts: [], page: { path: [] }, finding: null };
}

/** Encodes a part of a URL. Also encodes the characters that end a link in Markdown or similar formats. */
function encoded(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16)}`);
}

/** Formats texts for a receiver: `own` for words of flagmeter, `name` for names from other sources. */
interface Notation {
  readonly own: (text: string) => string;
  readonly name: (text: string) => string;
}

/** Maximum length of a name from another source. The linked page has the whole name. */
const mostInSentence = 160;
const mostInFact = 400;

function sentenceIn({ own, name }: Notation, words: Words): string {
  return words.map((part) => (typeof part === 'string' ? own(part) : name(safe(part.name, mostInSentence)))).join('');
}

function factIn({ own, name }: Notation, words: Words): string {
  return words.map((part) => (typeof part === 'string' ? own(part) : name(safe(part.name, mostInFact)))).join('');
}

/** Joins the first lines whose total length is at most `most` characters. */
function fitting(lines: readonly string[], most: number): string {
  let left = most + 1;
  const shown = lines.filter(({ length }) => {
    const fits = length < left;
    if (fits) left -= length + 1;
    return fits;
  });
  return shown.join('\n');
}

export function clipped(text: string, most: number): string {
  const characters = Array.from(text);
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join('')}…`;
}

/** Truncates a text, and replaces characters that break lines, control a terminal or change the direction of text. */
function safe(text: string, most: number): string {
  return clipped(
    replaceActive(text, () => '\ufffd'),
    most,
  );
}

const plain: Notation = { own: (text) => text, name: (text) => text };
