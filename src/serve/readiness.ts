import { onlyCounts } from '../contract/errors.ts';
import type { Ability, Readiness } from '../http/health.ts';
import type { Core } from './core.ts';

export function readinessOf({
  shutdown,
  health,
  intake,
  clock,
  accountStore,
  usageStore,
  disks,
}: Core): Readiness {
  const usage = usageStore.readiness();
  const stopping = shutdown.isNear ? 'the service is stopping' : undefined;
  const queue = intake.monitor.admits(clock.monotonic())
    ? undefined
    : 'too many messages are waiting for the disk';
  // Anyone may read this. The log and the status have the host and the reason.
  const { publicReason } = accountStore.status();
  const away = health.ready && publicReason !== undefined ? onlyCounts(publicReason) : undefined;
  return {
    counting: ability(stopping ?? usage.counting ?? queue),
    managing: ability(stopping ?? away ?? usage.managing),
    commits: intake.commits,
    warnings: disks.warnings,
  };
}

/** @param reason of an unavailable ability */
function ability(reason: string | undefined): Ability {
  return { ready: reason === undefined, reason: reason ?? '' };
}
