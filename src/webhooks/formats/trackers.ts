import { codeSpan } from '../../contract/code-span.ts';
import type { Webhook } from '../../storage/lmdb/webhook-records.ts';
import type { Message } from './message.ts';
import { clipped, factIn, fitting, plain, sentenceIn, type Writing } from './text.ts';

/** Bodies that open an issue. The text names the delivery, so that a repeated one is recognised. */

/** Shortest limits of a title: 255 characters on GitLab and Jira. */
const mostInTitle = 255;
/** Below the limits of all trackers: 32 767 characters in Jira. */
const mostInText = 30_000;

/** https://docs.github.com/rest/issues/issues#create-an-issue */
export function githubBody(message: Message): object {
  return { title: titleOf(message), body: markdownOf(message) };
}

/** https://docs.gitlab.com/api/issues/#new-issue */
export function gitlabBody(message: Message): object {
  return { title: titleOf(message), description: markdownOf(message) };
}

/** Version 2 of the API, which Jira Cloud and Data Center have: https://developer.atlassian.com/cloud/jira/platform/rest/v2/ */
export function jiraBody(
  message: Message,
  { project, issueType }: Pick<Webhook, 'project' | 'issueType'>,
): object {
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
