import { version } from '../../../package.json' with { type: 'json' };
import { printable } from '../show.ts';
import type { Finding, FindingKind } from './scan.ts';

const rules: Readonly<Record<FindingKind, { readonly level: string; readonly text: string; readonly help: string }>> = {
  never_seen: {
    level: 'warning',
    text: 'The code names a feature that was never seen',
    help: 'Check the spelling. Ignore code that is not released yet.',
  },
  not_in_code: {
    level: 'note',
    text: 'A feature was seen, but is not in the code',
    help: 'Archive the feature, unless other code uses it.',
  },
};

const kinds = Object.keys(rules) as FindingKind[];

/** Returns the findings as SARIF 2.1.0, which code hosts and editors show next to the code. */
export function createSarif(findings: readonly Finding[]): object {
  return {
    $schema: 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'flagmeter', version, rules: kinds.map(createRule) } },
        columnKind: 'utf16CodeUnits',
        results: findings.map(createResult),
      },
    ],
  };
}

function createRule(kind: FindingKind): object {
  const { level, text, help } = rules[kind];
  return { id: kind, shortDescription: { text }, help: { text: help }, defaultConfiguration: { level } };
}

function createResult(finding: Finding): object {
  const { kind, name, places } = finding;
  const logicalLocations = [{ name, kind: 'feature' }];
  const locations = places.map(({ file, line, column }) => ({
    physicalLocation: {
      artifactLocation: { uri: file.split('/').map(encodeURIComponent).join('/') },
      region: { startLine: line, startColumn: column, endColumn: column + name.length },
    },
    logicalLocations,
  }));
  return {
    ruleId: kind,
    ruleIndex: kinds.indexOf(kind),
    level: rules[kind].level,
    message: { text: formatMessage(finding) },
    locations: locations.length > 0 ? locations : [{ logicalLocations }],
    partialFingerprints: { 'feature/v1': `${kind} ${name}` },
  };
}

function formatMessage({ kind, name: found, declared, lastSeenAt, nearest }: Finding): string {
  const name = plain(found);
  if (kind === 'not_in_code') return `${name} was last seen at ${lastSeenAt}, but is not in the code`;
  const hint = nearest === null ? '' : `; the nearest known one is ${plain(nearest)}`;
  return `${name} was never seen${declared ? ', though it is declared' : ''}${hint}`;
}

/** Escapes brackets, which a viewer of SARIF would read as a link (SARIF 2.1.0 §3.11.6). */
function plain(name: string): string {
  return printable(name).replace(/[\\[\]]/g, '\\$&');
}
