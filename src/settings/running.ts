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
  logLevel: Type.Enum(['debug', 'info', 'warn', 'error'], {
    group: 'Running',
    value: 'LEVEL',
    description: 'Least level that is logged: debug, info, warn or error',
    default: 'info',
    must: 'be debug, info, warn or error',
  }),
};
