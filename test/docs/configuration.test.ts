import { join } from 'node:path';
import { expect, it } from 'vitest';
import { defaultOf, rangeOf } from '../../src/commands/help.ts';
import { groups, type Setting, settings } from '../../src/config-schema.ts';

/** What the document says before the tables. */
const introduction = `# Configuration

Made from \`src/settings\`; after a change there, \`npx vitest run test/docs -u\` writes it again.

Every setting of \`flagmeter serve\` takes its value from the first of these that gives one:

1. a flag: \`--max-body 128KiB\` or \`--max-body=128KiB\`; of a flag given twice the last one counts
2. an environment variable: \`FLAGMETER_MAX_BODY=128KiB\`; an empty one counts as not set
3. a key of the JSON file that \`--config\` names: \`{"maxBody": 131072}\`, or \`"max-body"\`
4. the default

A flag, variable or key that does not exist is an error, and so is a value that cannot be used: the server says which
one and why, and ends with exit code 2. The variables of the commands that talk to a server (\`flagmeter help login\`) are no
settings, and do not count. Byte counts are whole numbers and may end in \`KiB\`, \`MiB\` or \`GiB\`. Addresses are
\`HOST:PORT\`; \`:8080\` is every IPv4 address, an IPv6 address stands in brackets, and port 0 takes any free port.

Together these must hold: each \`--queue-low-…\` is below its \`--queue-high-…\`; \`--batch-packets\` is at most
\`--queue-high-packets\`; \`--max-body\` and \`--max-report\` are at most \`--queue-high-bytes\` and \`--body-budget\`;
\`--keep-minutes\` is at most 24 times \`--keep-hours\`, and \`--keep-hours\` at most \`--keep-days\`; \`--burst\` is at least 1 unless
\`--rate\` is 0; \`--tls-cert\` and \`--tls-key\` come together.
`;

function row({ flag, variable, schema }: Setting): string {
  const value = defaultOf(schema);
  const words = schema.defaultText === undefined ? `\`${value}\`` : value;
  const description = schema.description.replace(/--[a-z-]+|__other__/g, '`$&`');
  const range = rangeOf(schema) ?? '';
  return `| \`${`--${flag} ${schema.value}`.trimEnd()}\` | \`${variable}\` | ${value === undefined ? '' : words} | ${range} | ${description} |`;
}

function table(group: string): string {
  const rows = settings.filter(({ schema }) => schema.group === group).map(row);
  return `\n## ${group}\n\n| Flag | Variable | Default | Range | Meaning |\n|---|---|---|---|---|\n${rows.join('\n')}\n`;
}

it('docs/configuration.md says what the schema says', async () => {
  const document = introduction + groups.map(table).join('');
  await expect(document).toMatchFileSnapshot(join(import.meta.dirname, '../../docs/configuration.md'));
});
