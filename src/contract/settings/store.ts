import Type from 'typebox';
import { bytes, file, whole } from './kinds.ts';

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
      'Number of front-end threads, which accept the connections of --metrics-listen and handle packets instead of the main thread (0: none)',
      {
        minimum: 0,
        maximum: 64,
        defaultText: 'half of the cores with --metrics-listen on four or more cores, otherwise 0',
      },
    ),
  ),
  workers: whole('Store', 'Number of threads that count and commit usage; each application belongs to one thread', {
    minimum: 1,
    maximum: 64,
    default: 1,
  }),
  postgres: Type.Optional(
    Type.String({
      group: 'Several machines',
      value: 'URL',
      formerly: 'engine',
      description:
        'URL of the PostgreSQL that all nodes share, with all of its hosts. It contains a password, so prefer --postgres-file',
      pattern: '^postgres(?:ql)?://[^\\s]+$',
      must: 'begin with postgres:// and have no spaces, such as postgres://flagmeter@db1,db2/flagmeter',
    }),
  ),
  postgresFile: Type.Optional(
    file('Several machines', 'File that contains only the URL of --postgres', { formerly: 'engineFile' }),
  ),
  postgresKeyFile: Type.Optional(
    file('Several machines', 'File with the key that encrypts signing keys in PostgreSQL; the same on each node', {
      formerly: 'engineKeyFile',
    }),
  ),
  nodeName: Type.Optional(
    Type.String({
      group: 'Several machines',
      value: 'NAME',
      description: 'Name of this node, shown to people',
      defaultText: 'the host name',
      pattern: '^[^\\x00-\\x1f\\x7f]{1,100}$',
      must: 'have 1 to 100 characters, none of them a control character',
    }),
  ),
  spoolMax: bytes(
    'Several machines',
    'Maximum spool size while PostgreSQL is unreachable. When the spool is full, packets are refused with 503',
    { minimum: 1_048_576, default: 4_294_967_296 },
  ),
};
