import Type from 'typebox';
import { file, whole } from './kinds.ts';

/** Where the data is. */
export const store = {
  data: file('Store', 'Data directory; on a local disk, never on a network file system', {
    value: 'DIR',
    default: './flagmeter-data',
  }),
  existing: Type.Boolean({
    group: 'Store',
    value: '',
    description: 'Refuse to start when --data holds no prepared store, instead of preparing one',
    default: false,
    must: 'be true or false',
  }),
  workers: whole('Store', 'Threads that add up and commit usage; an application belongs to one', {
    minimum: 1,
    maximum: 64,
    default: 1,
  }),
};
