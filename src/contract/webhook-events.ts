/** The events that teams can subscribe to, and when each occurs. The table of docs/webhooks.md is generated from this. */
export const webhookEvents = {
  'flag.first_seen': 'A flag is seen in an environment for the first time',
  'flag.stale': 'A flag has become stale: silence is the only basis',
  'flag.verdict_changed': 'The verdict on a flag has changed, such as to `safe_to_remove`',
  'digest.weekly': 'Monday, 8:00 UTC: the flags that can go, with their owners',
  'key.leaked': 'A browser sent a Backend key',
  'api-key.expiring': 'An API key expires in 14 days, or in one',
  'ingest.refusing': 'Packets or reports are being refused',
  'experiment.finished': 'The plan of an experiment is met, and its result is final',
  'member.changed': 'A member was added, changed or removed',
} as const;

export type WebhookEventType = keyof typeof webhookEvents;
