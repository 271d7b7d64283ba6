import { join } from 'node:path';
import { expect, it } from 'vitest';
import { formatDefault, formatRange } from '../../src/commands/help.ts';
import { groups, type Setting, settings } from '../../src/contract/config-schema.ts';

/** The text before the tables in docs/configuration.md. */
const introduction = `# Configuration

Written from \`src/contract/settings\`: after a change there, run \`npx vitest run test/docs -u\`.

Every setting of \`flagmeter serve\` takes its value from the first of these sources that has one:

1. a flag: \`--max-body 128KiB\` or \`--max-body=128KiB\`; the last one counts if a flag is repeated
2. an environment variable: \`FLAGMETER_MAX_BODY=128KiB\`; an empty one counts as not set
3. a key of the JSON file that \`--config\` names: \`{"maxBody": 131072}\`, or \`"max-body"\`
4. the default

An unknown flag, variable or key is an error, and so is an invalid value: the server names it and the reason, and ends with exit
code 2. The server ignores the variables of the client commands (\`flagmeter help login\`). Byte counts are whole numbers and may
end in \`KiB\`, \`MiB\` or \`GiB\`. Addresses are \`HOST:PORT\`: \`:8080\` is every IPv4 address, an IPv6 address is written in
brackets, and port 0 takes any free port.

These rules apply between settings: each \`--queue-low-…\` must be below its \`--queue-high-…\`; \`--batch-packets\` at most
\`--queue-high-packets\`; \`--commit-delay\` below \`--queue-high-age\`; \`--max-body\` and \`--max-report\` at most \`--queue-high-bytes\` and \`--body-budget\`;
\`--keep-minutes\` at most 24 times \`--keep-hours\`, and \`--keep-hours\` at most \`--keep-days\`; \`--burst\` at least 1 unless
\`--rate\` is 0; and \`--tls-cert\` and \`--tls-key\` must be given together.
`;

function row({ option, variable, schema }: Setting): string {
  const value = formatDefault(schema);
  const words = schema.defaultText === undefined ? `\`${value}\`` : value;
  const description = schema.description.replace(/--[a-z-]+|__other__/g, '`$&`');
  const range = formatRange(schema) ?? '';
  return `| \`${`--${option} ${schema.value}`.trimEnd()}\` | \`${variable}\` | ${value === undefined ? '' : words} | ${range} | ${description} |`;
}

function table(group: string): string {
  const rows = settings.filter(({ schema }) => schema.group === group).map(row);
  return `\n## ${group}\n\n| Flag | Variable | Default | Range | Meaning |\n|---|---|---|---|---|\n${rows.join('\n')}\n`;
}

it('docs/configuration.md matches the schema', async () => {
  const document = introduction + groups.map(table).join('');
  await expect(document).toMatchFileSnapshot(join(import.meta.dirname, '../../docs/configuration.md'));
});
