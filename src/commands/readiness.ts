import { engineUnavailable } from '../errors.ts';
import type { Ability, Readiness } from '../http/health.ts';
import type { StoreHealth } from '../store/store-health.ts';
import type { Core } from './core.ts';

/** What the service can do now. */
export function readinessOf({
  shutdown,
  health,
  intake,
  clock,
  engine,
  usageEngine,
  disks,
}: Core): Readiness {
  const usage = usageEngine.readiness();
  const whole = shutdown.isNear ? 'the service is stopping' : storeTrouble(health);
  const queue = intake.monitor.admits(clock.monotonic()) ? undefined : 'too much is waiting for the disk';
  return {
    counting: ability(whole ?? usage.counting ?? queue),
    // Anyone may read it: the log and the status say which host failed, and why.
    managing: ability(whole ?? (engine.status().trouble && engineUnavailable) ?? usage.managing),
    commits: intake.commits,
    warnings: disks.warnings,
  };
}

function storeTrouble({ ready }: StoreHealth): string | undefined {
  return ready ? undefined : 'the store cannot take data; see the log';
}

/** @param reason why it cannot be done */
function ability(reason: string | undefined): Ability {
  return { ready: reason === undefined, reason: reason ?? '' };
}
