import Type from 'typebox';
import { file, whole } from './kinds.ts';

/** The process itself. */
export const running = {
  config: Type.Optional(
    file('Running', 'JSON file with these settings, under their names in camelCase or as flags'),
  ),
  shutdownGrace: whole('Running', 'Maximum seconds for finishing accepted work after SIGTERM or SIGINT', {
    value: 'SECONDS',
    minimum: 0,
    maximum: 3_600,
    default: 10,
  }),
  shutdownDelay: whole(
    'Running',
    'Seconds of further service after SIGTERM or SIGINT, while GET /readyz answers 503, so that load balancers choose other nodes',
    { value: 'SECONDS', minimum: 0, maximum: 3_600, default: 0 },
  ),
  logLevel: Type.Enum(['debug', 'info', 'warn', 'error'], {
    group: 'Running',
    value: 'LEVEL',
    description: 'Minimum level of the log: debug, info, warn or error',
    default: 'info',
    must: 'be debug, info, warn or error',
  }),
  logFormat: Type.Optional(
    Type.Enum(['json', 'text'], {
      group: 'Running',
      value: 'FORMAT',
      description: 'Format of the log: json (one object per line) or text',
      defaultText: 'text on a terminal, otherwise json',
      must: 'be json or text',
    }),
  ),
  slowRequest: whole('Running', 'Duration of a request in ms from which a warning is logged (0: never)', {
    value: 'MS',
    minimum: 0,
    default: 5_000,
  }),
  slowCommit: whole('Running', 'Duration of a commit in ms from which a warning is logged (0: never)', {
    value: 'MS',
    minimum: 0,
    default: 1_000,
  }),
};
