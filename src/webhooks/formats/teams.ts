import type { Words } from '../../contract/words.ts';
import type { Message } from './message.ts';
import { factIn, plain, sentenceIn } from './text.ts';

/**
 * A message for the workflow "Send webhook alerts to a channel" of Microsoft Teams, with an Adaptive Card
 * (https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using). The texts are runs:
 * these know no Markdown (https://adaptivecards.io/explorer/TextRun.html). Texts of others are bounded, so the message is smaller than
 * the limit of 28 KB.
 */
export function teamsBody({ sentence, facts, link }: Message): object {
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
