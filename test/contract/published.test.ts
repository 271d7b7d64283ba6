import { expect, it } from 'vitest';
import { commandNames } from '../../src/commands/command-files.ts';
import { helpText } from '../../src/commands/help.ts';
import { openapi as auth } from '../auth/conformance.ts';
import { openapi as management } from '../management/support/openapi-document.ts';
import { openapi as metrics } from '../serve/metrics-host/document.ts';

// Snapshots of the public interface after its last intended change. `npx vitest run --project unit
// test/contract/published.test.ts -u` accepts the current interface.

it.each([
  ['auth', auth],
  ['management', management],
  ['metrics', metrics],
])('the OpenAPI document of the %s host equals the published document', async (host, document) => {
  await expect(listLines(document)).toMatchFileSnapshot(`../fixtures/published/${host}.jsonl`);
});

it('the help text of every command equals the published text', async () => {
  const texts = [undefined, ...commandNames].map(
    (name) => `$ flagmeter help${name === undefined ? '' : ` ${name}`}\n${helpText(name)}`,
  );
  await expect(texts.join('\n')).toMatchFileSnapshot('../fixtures/published/help.txt');
});

/** Returns one line for each operation, component and other member, so that a diff shows the changed members. */
function listLines(document: object): string {
  const { paths, components, ...rest } = document as Record<string, object>;
  const lines = Object.entries({ ...rest, ...nested(paths), ...nested(components) });
  return lines.map((entry) => `${JSON.stringify(entry)}\n`).join('');
}

function nested(groups: object = {}): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(groups).flatMap(([group, members]) =>
      Object.entries(members).map(([name, member]) => [`${group} ${name}`, member]),
    ),
  );
}
