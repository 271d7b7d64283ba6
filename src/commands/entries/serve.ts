import type { Command } from '../../cli/command.ts';
import { type Setting, settings } from '../../contract/config-schema.ts';
import { type Option, option } from '../../contract/shapes/option.ts';

export const serve: Command = {
  name: 'serve',
  summary: 'Run the server; initialise an empty data directory first, as init does',
  examples: [
    'serve --listen 127.0.0.1:8080 --data /var/lib/flagmeter',
    'serve --config /etc/flagmeter/config.json --check',
  ],
  options: [
    ...settings.map(createOption),
    option('check', 'Check settings, files, the data directory and addresses, and exit without a change'),
  ],
  run: async (argv, terminal) => (await import('../server/serve.ts')).serve(argv, terminal),
};

function createOption({ option: name, formerly, schema }: Setting): Option {
  const { value, description, enum: values } = schema;
  const isFile = value === 'FILE' || value === 'DIR';
  return {
    name,
    ...(value && { value }),
    ...(formerly && { formerly: formerly.option }),
    description,
    ...(values && { values }),
    ...(isFile && { file: true }),
  };
}
