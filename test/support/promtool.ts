import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';

/** Path of the rules file that operators load. */
export const rulesPath = join(import.meta.dirname, '../../docs/alerts/flagmeter.yml');
export const dashboardPath = join(import.meta.dirname, '../../docs/dashboards/flagmeter.json');

/** A rule in the file. */
export interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook: string };
}

export function readRules(): readonly AlertRule[] {
  const { groups } = parse(readFileSync(rulesPath, 'utf8')) as { groups: { rules: AlertRule[] }[] };
  return groups.flatMap(({ rules }) => rules);
}

/** Returns every name that `GET /metrics` can have, from the docs. test/docs/metrics.test.ts checks the docs. */
export function knownMetrics(): ReadonlySet<string> {
  const paper = readFileSync(join(import.meta.dirname, '../../docs/metrics.md'), 'utf8');
  const names = [...paper.matchAll(/^\| `([a-z_]+)` \| (\w+) \|/gm)].flatMap(([, name, type]) =>
    type === 'histogram' ? ['_bucket', '_sum', '_count'].map((ending) => `${name}${ending}`) : [name!],
  );
  return new Set([...names, 'up']);
}

/** Returns the expressions of the dashboard, with its variables filled in. */
export function readPanels(): readonly { readonly title: string; readonly expr: string }[] {
  const { panels } = JSON.parse(readFileSync(dashboardPath, 'utf8')) as {
    panels: { title: string; targets?: { expr: string }[] }[];
  };
  return panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr: filledIn(expr) })));
}

function filledIn(expr: string): string {
  const values = { $__rate_interval: '1m', $instance: '.*', $job: 'flagmeter' };
  return Object.entries(values).reduce((text, [name, value]) => text.replaceAll(name, value), expr);
}

export function metricsIn(expr: string): readonly string[] {
  const bare = expr
    .replace(/"[^"]*"/g, '')
    .replace(/\{[^}]*\}|\[[^\]]*\]/g, '')
    .replace(/\b(?:by|without|on|ignoring)\s*\([^)]*\)/g, '');
  const names = bare.match(/(?<![\w.])[a-zA-Z_:][\w:]*(?!\w*\s*\()/g) ?? [];
  return [...new Set(names)].filter((name) => !['and', 'or', 'unless', 'bool', 'offset'].includes(name));
}

/**
 * Writes files, and runs promtool on them.
 * @param input standard input of promtool
 * @throws {Error} with its output, if it reports a fault
 */
export function promtool(args: readonly string[], files: Readonly<Record<string, string>> = {}, input = ''): string {
  const folder = mkdtempSync(join(tmpdir(), 'flagmeter-promtool-'));
  try {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    return execFileSync('promtool', args, { cwd: folder, encoding: 'utf8', input, stdio: 'pipe' });
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`promtool ${args.join(' ')}: ${stdout}${stderr}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
