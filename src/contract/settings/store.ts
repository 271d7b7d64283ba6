import Type from 'typebox';
import { file, whole } from './kinds.ts';

/** The data directory. */
export const store = {
  data: file('Store', 'Data directory, on a local disk and not on a network file system', {
    value: 'DIR',
    default: './flagmeter-data',
  }),
  existing: Type.Boolean({
    group: 'Store',
    value: '',
    description: 'Refuse to start if --data holds no initialised store, instead of initialising one',
    default: false,
    must: 'be true or false',
  }),
  threads: Type.Optional(
    whole(
      'Store',
      'Number of front-end threads, which accept the connections of --metrics-listen and answer packets in place of the main thread (0: none)',
      {
        minimum: 0,
        maximum: 64,
        defaultText: 'half of the cores with --metrics-listen on four or more cores, otherwise 0',
      },
    ),
  ),
  workers: whole('Store', 'Number of threads that count and commit usage; each application belongs to one', {
    minimum: 1,
    maximum: 64,
    default: 1,
  }),
};
