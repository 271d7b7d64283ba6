import Type from 'typebox';
import { bytes, file } from './kinds.ts';

const group = 'Several machines';

/** The engine that several machines share. Without one, the data directory holds everything. */
export const engine = {
  engine: Type.Optional(
    Type.String({
      group,
      value: 'URL',
      description:
        'PostgreSQL that all nodes share, with all of its hosts; it has a password, so better use --postgres-file',
      pattern: '^postgres(?:ql)?://[^\\s]+$',
      must: 'begin with postgres:// and have no spaces, such as postgres://flagmeter@db1,db2/flagmeter',
    }),
  ),
  postgresFile: Type.Optional(file(group, 'File with the URL of --postgres, and nothing else')),
  postgresKeyFile: Type.Optional(
    file(
      group,
      'File with the key that signing keys are encrypted with in the engine; the same on each node',
    ),
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
  spoolMax: bytes(group, 'Most bytes that a node keeps for an engine that is away; then 503 is answered', {
    minimum: 1_048_576,
    default: 4_294_967_296,
  }),
};
