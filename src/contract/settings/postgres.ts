import Type from 'typebox';
import { bytes, file } from './kinds.ts';

const group = 'Several machines';

/** The PostgreSQL that several machines share. Without one, the data directory holds everything. */
export const postgres = {
  postgres: Type.Optional(
    Type.String({
      group,
      value: 'URL',
      formerly: 'engine',
      description:
        'URL of the PostgreSQL that all nodes share, with all of its hosts. It contains a password, so prefer --postgres-file',
      pattern: '^postgres(?:ql)?://[^\\s]+$',
      must: 'begin with postgres:// and have no spaces, such as postgres://flagmeter@db1,db2/flagmeter',
    }),
  ),
  postgresFile: Type.Optional(
    file(group, 'File with the URL of --postgres, and nothing else', { formerly: 'engineFile' }),
  ),
  postgresKeyFile: Type.Optional(
    file(group, 'File with the key that encrypts signing keys in PostgreSQL; the same on each node', {
      formerly: 'engineKeyFile',
    }),
  ),
  nodeName: Type.Optional(
    Type.String({
      group,
      value: 'NAME',
      description: 'Name of this node, for people',
      defaultText: 'the host name',
      pattern: '^[^\\x00-\\x1f\\x7f]{1,100}$',
      must: 'have 1 to 100 characters, none of them a control character',
    }),
  ),
  spoolMax: bytes(
    group,
    'Maximum spool size while PostgreSQL is unreachable; then packets are refused with 503',
    {
      minimum: 1_048_576,
      default: 4_294_967_296,
    },
  ),
};
