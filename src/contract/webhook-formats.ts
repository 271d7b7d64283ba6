interface FormatRule {
  readonly label: string;
  /** Content of deliveries, in a few words. */
  readonly meaning: string;
  readonly exampleUrl: string;
  /** True if each delivery opens an issue in a tracker, which requires a credential. */
  readonly isTracker: boolean;
}

/** The formats of deliveries. The table of docs/webhooks.md is generated from this object. */
export const webhookFormats = {
  standard: {
    label: 'Standard Webhooks',
    meaning: 'Signed JSON for programs',
    exampleUrl: 'https://hooks.example.com/flags',
    isTracker: false,
  },
  slack: {
    label: 'Slack',
    meaning: 'A message for an incoming webhook of Slack',
    exampleUrl: 'https://hooks.slack.com/services/…',
    isTracker: false,
  },
  teams: {
    label: 'Microsoft Teams',
    meaning: 'An Adaptive Card for a workflow of Microsoft Teams',
    exampleUrl: 'https://….logic.azure.com/workflows/…',
    isTracker: false,
  },
  github: {
    label: 'GitHub',
    meaning: 'A new issue in a repository on GitHub',
    exampleUrl: 'https://api.github.com/repos/OWNER/REPOSITORY/issues',
    isTracker: true,
  },
  gitlab: {
    label: 'GitLab',
    meaning: 'A new issue in a project on GitLab',
    exampleUrl: 'https://gitlab.com/api/v4/projects/ID/issues',
    isTracker: true,
  },
  jira: {
    label: 'Jira',
    meaning: 'A new issue in a project of Jira',
    exampleUrl: 'https://YOUR-SITE.atlassian.net/rest/api/2/issue',
    isTracker: true,
  },
} as const satisfies Readonly<Record<string, FormatRule>>;

export type WebhookFormat = keyof typeof webhookFormats;

export const webhookFormatNames = Object.keys(webhookFormats) as [WebhookFormat, ...WebhookFormat[]];
