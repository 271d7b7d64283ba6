import type { ClusterShown } from '../management/cluster-shape.ts';
import type { NodeStatus, UsageEngineStatus } from '../storage/commit/usage-engine.ts';

/** The nodes as the API shows them. */
export function showCluster(status: UsageEngineStatus | undefined): ClusterShown | null {
  if (status === undefined) return null;
  const { directory, engine, nodes, completeThrough, spool, refused, rebases, setAsideBytes } = status;
  return {
    node: directory,
    connected: engine.connected,
    reason: engine.connected ? '' : engine.reason,
    completeThrough: timeOf(completeThrough),
    spoolMaxBytes: spool.maxBytes,
    nodes: nodes.map(showNode),
    refusedRows: refused.rows,
    failovers: engine.failovers,
    setAsideBytes,
    rebases,
  };
}

function showNode(node: NodeStatus): ClusterShown['nodes'][number] {
  const { directory, name, version, state, lag, spoolBytes, oldestUnshipped } = node;
  return {
    ...{ directory, name, version, state, lag, spoolBytes },
    lastBeat: timeOf(node.lastBeat),
    oldestUnshipped: oldestUnshipped === undefined ? null : timeOf(oldestUnshipped),
    through: timeOf(node.through),
  };
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}
