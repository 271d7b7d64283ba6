import type { Message } from './message.ts';
import { factIn, fitting, plain, sentenceIn, type Writing } from './text.ts';

/** The limit of a text object (https://docs.slack.dev/reference/block-kit/composition-objects/text-object). */
const mostInBlock = 3000;

/** A message of an incoming webhook (https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks). */
export function slackBody({ sentence, facts, link }: Message): object {
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
