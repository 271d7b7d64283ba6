import { ExperimentPatch, experimentStates, NewExperiment } from '../shapes/experiment.ts';
import { experimentColumns } from './columns.ts';
import { fieldsOf, flag } from './field.ts';
import type { Resource } from './resource.ts';

const environment = flag('environment NAME', 'Environment in which it runs');
const feature = flag('feature NAME', 'Feature that it is about');

const plan = {
  hypothesis: flag('hypothesis TEXT', 'What you expect, and why'),
  environment,
  base: flag('base VARIANT', 'Variant that the others are compared with'),
  split: null,
  startAt: flag('start TIME', 'Start', { more: 'default: now', as: 'laterTime' }),
  endAt: flag('end TIME', 'Planned end, at least 7 whole UTC days after the start', { as: 'laterTime' }),
  users: flag('users N', 'Planned users of each variant'),
  metric: flag('metric METRIC', 'used, viewed, or a declared counter'),
  direction: flag('direction up|down', 'The better direction', { more: 'default: up' }),
  guardrails: flag('guardrail-file FILE', 'File with a guardrail metric as JSON; repeatable', {
    as: 'jsonFile',
    file: true,
  }),
} as const;

export const experiments: Resource = {
  name: 'experiments',
  one: 'experiment',
  many: 'experiments',
  within: 'app',
  collection: 'experiments',
  key: 'id',
  alias: 'name',
  single: true,
  columns: experimentColumns,
  filters: [
    feature,
    environment,
    flag('state STATE', 'Only those in this state', { values: [...experimentStates] }),
  ],
  create: {
    operand: { name: 'NAME', description: 'Name of the experiment' },
    fields: fieldsOf(NewExperiment, { name: null, feature, ...plan }),
  },
  update: {
    fields: fieldsOf(ExperimentPatch, {
      name: flag('name NAME', 'New name'),
      ...plan,
      stop: flag('stop REASON', 'Stop it before its planned end, for this reason'),
    }),
  },
  remove: { loses: 'Its result is deleted too' },
};
