import { command } from '../../cli/command.ts';
import { jsonOption } from '../../cli/common-options.ts';
import { option } from '../../contract/shapes/option.ts';

const address = (name: string, what: string, usual: string) =>
  option(`${name} HOST:PORT`, what, { more: `default: ${usual}, or a free port if that address is in use` });

export const demo = command({
  name: 'demo',
  summary: 'Run a throwaway server with sample data and live traffic',
  examples: ['demo', 'demo --listen 127.0.0.1:9000'],
  options: [
    address('listen', 'HTTP address', 'localhost:8080'),
    address('grpc-listen', 'gRPC address', '127.0.0.1:8081'),
    option('auth-url URL', 'Public URL; required if --listen is on all addresses', {
      more: 'default: the address of the HTTP listener',
    }),
    option('seed N', 'Seed of the sample data', { more: 'default: 1' }),
    jsonOption,
  ],
  notes: `
The data directory is in the temp directory, and is removed when the demo stops (Ctrl-C). Settings
from the environment and from files are ignored.
`,
  load: async () => (await import('../../demo/demo.ts')).demo,
});
