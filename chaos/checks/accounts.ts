import { mustBeRefused } from '../clients/invalidations.ts';
import type { Round } from '../round.ts';
import type { ServiceNode } from '../scene/service-node.ts';

interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
}

/**
 * Checks that all nodes show the acknowledged changes, that the audit log contains each change once, and that
 * invalidated tokens stay refused.
 */
export async function checkAccounts(round: Round, began: number): Promise<void> {
  for (const node of round.scene.nodes) {
    await checkFeatures(round, node);
    await checkAudit(round, node, began);
  }
  for (const invalidated of round.invalidated.slice(-20)) {
    const statuses = Object.entries(await mustBeRefused(round, invalidated));
    for (const [name, status] of statuses)
      if (status !== 401)
        round.journal.violation(`${name} responds with ${status} to an invalidated token after all faults have ended`);
  }
}

async function checkFeatures(round: Round, node: ServiceNode): Promise<void> {
  const { application, environment } = round.shop;
  const path = `/api/v2/applications/${application}/features?declared=true`;
  const items = await readAll<{ name: string }>(round, node, path);
  const shown = new Set(items.map(({ name }) => name).filter((name) => name.startsWith(`${environment}-`)));
  for (const name of new Set(round.changes.map((change) => change.name))) {
    const declared = findOutcome(round, 'feature.declared', name);
    const deleted = findOutcome(round, 'feature.deleted', name);
    const must = declared === 'accepted' && deleted === 'refused';
    const mustNot = declared === 'refused' || deleted === 'accepted';
    const isThere = shown.has(name);
    if ((must && !isThere) || (mustNot && isThere))
      round.journal.violation(
        `${node.name}: ${name} is ${isThere ? '' : 'not '}there; declared: ${declared}, deleted: ${deleted}`,
      );
  }
}

/** Returns the outcome of a change. If the change was not requested, returns `refused`. */
function findOutcome(round: Round, action: Round['changes'][number]['action'], name: string) {
  return round.changes.find((change) => change.name === name && change.action === action)?.outcome ?? 'refused';
}

async function checkAudit(round: Round, node: ServiceNode, began: number): Promise<void> {
  const path = `/api/v2/audit?action=feature&from=${new Date(began).toISOString()}`;
  const entries = await readAll<{ action: string; target: { name: string } }>(round, node, path);
  for (const { action, name, outcome } of round.changes) {
    const times = entries.filter((entry) => entry.action === action && entry.target.name === name).length;
    const least = outcome === 'accepted' ? 1 : 0;
    const most = outcome === 'refused' ? 0 : 1;
    if (times < least || times > most)
      round.journal.violation(
        `${node.name}: the audit log has ${action} of ${name} ${times} times; the change was ${outcome}`,
      );
  }
}

async function readAll<Item>(round: Round, node: ServiceNode, path: string): Promise<Item[]> {
  const items: Item[] = [];
  for (let cursor = ''; ; ) {
    const more = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const question = { kind: 'list read', path: `${path}&limit=200${more}` };
    const page = (await round.tokens.insist(node.http, question)) as Page<Item>;
    items.push(...page.items);
    if (page.nextCursor === null) return items;
    cursor = page.nextCursor;
  }
}
