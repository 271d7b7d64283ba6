import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { healthKinds, healthRule } from '../../src/contract/health.ts';
import { withTable } from '../support/written-table.ts';

const path = fileURLToPath(new URL('../../docs/alerts.md', import.meta.url));

test('docs/alerts.md has the rules of health', async () => {
  const rows = healthKinds.map((kind) => {
    const { severity, when, event, alert } = healthRule(kind);
    const named = (name: string | undefined) => (name === undefined ? '' : `\`${name}\``);
    return [`\`${kind}\``, severity, when, named(event ?? undefined), named(alert?.name)];
  });
  const columns = ['Finding', 'Severity', 'When', 'Event', 'Alert'];
  await expect(withTable(readFileSync(path, 'utf8'), columns, rows)).toMatchFileSnapshot(path);
});
