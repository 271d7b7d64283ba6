import { join } from 'node:path';
import { expect, it } from 'vitest';
import { formatDefault, formatRange } from '../../src/commands/help.ts';
import { groups, type Setting, settings } from '../../src/contract/config-schema.ts';

/** The text before the tables in docs/configuration.md. */
const introduction = `# Configuration

Every setting of \`flagmeter serve\` takes its value from the first of these sources that has one:

1. an option: \`--max-body 128KiB\`
2. an environment variable: \`FLAGMETER_MAX_BODY=128KiB\`. The name of the variable follows from the name of the option
3. a key of the JSON file that \`--config\` names: \`{"max-body": "128KiB"}\`, or \`"maxBody"\`
4. the default

An unknown setting or an invalid value ends the server with exit code 2, and the message names the reason. An empty variable counts as not
set. Byte counts are whole numbers and can end in \`KiB\`, \`MiB\` or \`GiB\`. Addresses are \`HOST:PORT\`: \`:8080\` is every IPv4 address, brackets
enclose an IPv6 address, and port 0 is any free port.

Some settings limit each other: for example, each \`--queue-low-…\` is below its \`--queue-high-…\`. If a combination is invalid, the message
names both settings.
`;

function row({ option, schema }: Setting): string {
  const value = formatDefault(schema);
  const words = schema.defaultText === undefined ? `\`${value}\`` : value;
  const description = schema.description.replace(/--[a-z-]+|__other__/g, '`$&`');
  const limits = [value === undefined ? undefined : words, formatRange(schema)].filter(Boolean).join('; ');
  return `| \`${`--${option} ${schema.value}`.trimEnd()}\` | ${limits} | ${description} |`;
}

function table(group: string): string {
  const rows = settings.filter(({ schema }) => schema.group === group).map(row);
  return `\n## ${group}\n\n| Option | Default and range | Meaning |\n|---|---|---|\n${rows.join('\n')}\n`;
}

it('docs/configuration.md matches the schema', async () => {
  const document = introduction + groups.map(table).join('');
  await expect(document).toMatchFileSnapshot(join(import.meta.dirname, '../../docs/configuration.md'));
});
