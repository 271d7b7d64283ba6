import Type from 'typebox';
import { file, whole } from './kinds.ts';

/** The process itself. */
export const running = {
  config: Type.Optional(
    file('Running', 'JSON file of these settings, by their names in camelCase or as flags'),
  ),
  shutdownGrace: whole('Running', 'Seconds to finish accepted work in after SIGTERM or SIGINT', {
    value: 'SECONDS',
    minimum: 0,
    maximum: 3_600,
    default: 10,
  }),
  shutdownDelay: whole(
    'Running',
    'Seconds to go on serving after SIGTERM or SIGINT, while GET /readyz answers 503: load balancers look elsewhere meanwhile',
    { value: 'SECONDS', minimum: 0, maximum: 3_600, default: 0 },
  ),
  logLevel: Type.Enum(['debug', 'info', 'warn', 'error'], {
    group: 'Running',
    value: 'LEVEL',
    description: 'Least level that is logged: debug, info, warn or error',
    default: 'info',
    must: 'be debug, info, warn or error',
  }),
  logFormat: Type.Optional(
    Type.Enum(['json', 'text'], {
      group: 'Running',
      value: 'FORMAT',
      description: 'Form of the log: json, one object a line, or text for people',
      defaultText: 'text at a terminal, otherwise json',
      must: 'be json or text',
    }),
  ),
  slowRequest: whole('Running', 'Milliseconds from which on the log warns of a request; 0 is never', {
    value: 'MS',
    minimum: 0,
    default: 5_000,
  }),
  slowCommit: whole('Running', 'Milliseconds from which on the log warns of a commit; 0 is never', {
    value: 'MS',
    minimum: 0,
    default: 1_000,
  }),
};
