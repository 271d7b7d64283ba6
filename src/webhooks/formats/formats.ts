import type { WebhookFormat } from '../../contract/webhook-formats.ts';
import type { Webhook, WebhookDelivery } from '../../storage/lmdb/webhook-records.ts';
import { type Message, messageOf } from './message.ts';
import { slackBody } from './slack.ts';
import { teamsBody } from './teams.ts';
import { githubBody, gitlabBody, jiraBody } from './trackers.ts';

/** The settings of a webhook that decide the body of its deliveries. */
export type Formatted = Pick<Webhook, 'format' | 'project' | 'issueType'>;

const bodies: Readonly<
  Record<Exclude<WebhookFormat, 'standard'>, (message: Message, webhook: Formatted) => object>
> = {
  slack: slackBody,
  teams: teamsBody,
  github: githubBody,
  gitlab: gitlabBody,
  jira: jiraBody,
};

/** The format of a webhook. */
export function formatOf({ format = 'standard' }: Formatted): WebhookFormat {
  return format;
}

/**
 * The body of a delivery in the format of its webhook.
 * @param consoleUrl the base URL of the console, for links
 */
export function bodyOf(
  webhook: Formatted,
  { id, body }: Pick<WebhookDelivery, 'id' | 'body'>,
  consoleUrl: string,
): string {
  const format = formatOf(webhook);
  if (format === 'standard') return body;
  return JSON.stringify(bodies[format](messageOf(body, id, consoleUrl), webhook));
}
