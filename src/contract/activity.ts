/*
 * Activity of an application: changes by people, and changes in its data. The API, the feed, the chart markers, the
 * command line and the docs use these declarations of the kinds.
 */

export const activityGroups = {
  changes: 'Changes by people',
  flags: 'Flags in the data',
  senders: 'Senders',
  ingest: 'Ingest',
} as const;

export type ActivityGroup = keyof typeof activityGroups;

interface Kind {
  readonly group: ActivityGroup;
  readonly label: string;
  /** The end of the sentence "An item of this kind appears when …", for the docs. */
  readonly when: string;
}

export const activityKinds = {
  flag_changed: {
    group: 'changes',
    label: 'Flag changed',
    when: 'the declaration of a flag is created, changed or deleted',
  },
  note: { group: 'changes', label: 'Note', when: 'the time of a note on a flag is reached' },
  experiment_changed: {
    group: 'changes',
    label: 'Experiment',
    when: 'an experiment is created or changed, ends, or is deleted',
  },
  rollout_step: { group: 'changes', label: 'Rollout step', when: 'a step of a rollout plan begins' },
  key_changed: { group: 'changes', label: 'Key changed', when: 'an application key is created or deleted' },
  environment_changed: {
    group: 'changes',
    label: 'Environment changed',
    when: 'an environment is created or deleted, or counts are imported into it',
  },
  metric_changed: {
    group: 'changes',
    label: 'Metric changed',
    when: 'the declaration of a metric is created, changed or deleted',
  },
  application_changed: {
    group: 'changes',
    label: 'Settings changed',
    when: 'the application is created, or its settings change, such as the allowed origins',
  },
  first_seen: { group: 'flags', label: 'First seen', when: 'a flag is seen in an environment for the first time' },
  new_variant: {
    group: 'flags',
    label: 'New variant',
    when: 'a variant is first seen more than an hour after its flag',
  },
  split_moved: {
    group: 'flags',
    label: 'Split moved',
    when: 'the share of a variant has clearly moved, by 10 percentage points or more, for two days',
  },
  flag_silent: {
    group: 'flags',
    label: 'Silent',
    when: 'a flag has not been seen for 7 days, although its environment received data',
  },
  sender_first_seen: {
    group: 'senders',
    label: 'New sender',
    when: 'a program, other than a browser, is seen in an environment for the first time',
  },
  sender_released: {
    group: 'senders',
    label: 'Release',
    when: 'a new version of a known program is seen in an environment for the first time',
  },
  environment_silent: {
    group: 'ingest',
    label: 'Environment silent',
    when: 'nothing was received in an environment for a day',
  },
  traffic_moved: {
    group: 'ingest',
    label: 'Traffic moved',
    when: 'the daily checks of an environment have clearly changed for two days: at least doubled or halved',
  },
  refused: {
    group: 'ingest',
    label: 'Refused',
    when: 'messages of a key are refused for a reason for the first time in a day',
  },
  key_leaked: { group: 'ingest', label: 'Key leaked', when: 'a browser sends a Backend key' },
} as const satisfies Readonly<Record<string, Kind>>;

export type ActivityKind = keyof typeof activityKinds;

export const activityKindNames = Object.keys(activityKinds) as ActivityKind[];

export function kindsIn(group: ActivityGroup): readonly ActivityKind[] {
  return activityKindNames.filter((kind) => activityKinds[kind].group === group);
}
