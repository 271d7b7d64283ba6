import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { providerRefusals } from '../../src/contract/provider-refusals.ts';
import { withTable } from '../support/written-table.ts';

const path = fileURLToPath(new URL('../../docs/single-sign-on.md', import.meta.url));

test('docs/single-sign-on.md lists the reasons to refuse a sign-in', async () => {
  const rows = Object.entries(providerRefusals).map(([code, meaning]) => [`\`${code}\``, meaning]);
  const document = withTable(readFileSync(path, 'utf8'), ['Reason', 'Meaning and remedy'], rows);
  await expect(document).toMatchFileSnapshot(path);
});
