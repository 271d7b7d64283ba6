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
  workers: whole('Store', 'Number of threads that count and commit usage; each application belongs to one', {
    minimum: 1,
    maximum: 64,
    default: 1,
  }),
};
