import type { NodeStatus, UsageEngineStatus } from '../commit/usage-engine.ts';
import type { EngineNode } from './beat.ts';
import type { NodeTold } from './replica-node.ts';

/** A node that has not been heard of for this long does not run, or cannot reach the engine. */
const silentMs = 10_000;

/** How the machines do, from what the thread last told. @param now PostgreSQL's time, Unix ms */
export function statusOf(
  told: NodeTold | undefined,
  directory: string,
  maxBytes: number,
  now: number,
): Omit<UsageEngineStatus, 'setAsideBytes'> {
  const { link, view, completeThrough = 0, rebases = 0, trimming } = told ?? {};
  const head = view?.head.position ?? 0;
  return {
    directory,
    engine: {
      connected: link?.isUp ?? false,
      since: link?.since ?? now,
      reason: link?.reason ?? 'it was not asked yet',
      commits: link?.commits ?? 0,
      commitMs: link?.commitMs ?? 0,
      failovers: link?.failovers ?? 0,
    },
    nodes: (view?.nodes ?? []).map((node) => nodeOf(node, head, now)),
    completeThrough,
    spool: { bytes: told?.spoolBytes ?? 0, maxBytes, oldestUnshipped: told?.oldestUnshipped },
    refused: view?.refused ?? { rows: 0, latest: [] },
    rebases,
    log: {
      trimmed: trimming?.trimmed ?? 0,
      bytes: trimming?.length?.bytes ?? 0,
      oldest: trimming?.length?.since?.getTime(),
    },
  };
}

function nodeOf(node: EngineNode, head: number, now: number): NodeStatus {
  const { directory, name, version, beat, applied, spoolBytes, oldestUnshipped, through } = node;
  return {
    ...{ directory, name, version, spoolBytes, through },
    state: stateOf(node, now),
    lastBeat: beat,
    lag: Math.max(0, head - applied),
    oldestUnshipped: oldestUnshipped ?? undefined,
  };
}

function stateOf({ state, beat }: EngineNode, now: number): NodeStatus['state'] {
  if (state === 'done' || state === 'forgotten') return state;
  return now - beat > silentMs ? 'silent' : 'up';
}
