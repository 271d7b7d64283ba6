import { setTimeout as pause } from 'node:timers/promises';
import { finishDeletion } from '../accounts/deletions.ts';
import { sweepExpired } from '../auth/sweep.ts';
import type { RefusalCode } from '../contract/refusals.ts';
import type { GrpcListener } from '../ingest/grpc/listener.ts';
import { finishExperiments } from '../management/finish-experiments.ts';
import { listConclusions } from '../reports/experiments/experiment-text.ts';
import { systemClock } from '../runtime/clock.ts';
import { logFailure } from '../runtime/failures.ts';
import { watchLoop } from '../runtime/histogram.ts';
import { handleFoldRequests } from '../storage/backup/fold-requests.ts';
import type { Deletion } from '../storage/lmdb/records.ts';
import type { UsageTable, UsageTables } from '../storage/lmdb/usage.ts';
import { runUpkeep } from '../storage/upkeep/upkeep.ts';
import { sweepWebhooks } from '../webhooks/sweep.ts';
import { Watch } from '../webhooks/watch.ts';
import { type Core, flushLastUses } from './core.ts';
import { applyReset, handlePasswordRequests } from './password-reset.ts';
import { checkReadiness, type ServiceStatus } from './service-status.ts';

type Pause = (ms: number) => Promise<boolean>;

/** Delay between the ready line and the background work, ms. */
const startAfterMs = 50;

/** @returns a function that stops the work */
export function startWork(core: Core, grpc: GrpcListener, status: ServiceStatus): () => Promise<unknown> {
  const stopping = new AbortController();
  const rest: Pause = (ms) => pause(ms, true, { signal: stopping.signal }).catch(() => false);
  const loops = [...listUpkeepTasks(core, rest), ...webhookWork(core, rest)];
  const work = loops.map((run) => rest(startAfterMs).then((goOn) => goOn && run()));
  const timers = listTimedTasks(core, grpc, status).map(([everyMs, run]) => setInterval(run, everyMs));
  void core.disks.look();
  const stopWatching = watchLoop(core.mainDelays, systemClock);
  const scan = core.accounts.fullyChecked ? undefined : scanUsage(core, rest);
  return () => {
    for (const timer of timers) clearInterval(timer);
    stopWatching();
    stopping.abort();
    return Promise.all([...work, scan, core.backups?.stop()]);
  };
}

function listUpkeepTasks(core: Core, rest: Pause): readonly (() => Promise<unknown>)[] {
  const { config, directory, intake, front, health, log, audit } = core;
  const sweeping = () =>
    sweepExpired({
      ...core,
      auditMs: config.keepAudit * 86_400_000,
      exportAudit: audit && (() => audit.run(core.accounts)),
      pause: rest,
      failed: (error) => logFailure(log, 'removing expired records failed', error),
    });
  const keepingUp = () =>
    runUpkeep({
      ...core,
      applications: directory.applications,
      exposureDays: config.exposureDays,
      deletions: directory.deletions,
      settled: async (application) =>
        void (await Promise.all([intake.findLane(application).barrier(application), front.barrier(application)])),
      forget: (deletion) => forgetDeleted(core, deletion),
      finished: (deletion) => finishDeletion(directory, deletion),
      pause: rest,
      failed: (error) => health.failed(error),
    });
  return [sweeping, keepingUp, async () => core.backups?.keep(rest)];
}

/** Lists the repeated tasks, each with its interval in ms. */
function listTimedTasks(
  core: Core,
  grpc: GrpcListener,
  status: ServiceStatus,
): readonly (readonly [everyMs: number, run: () => unknown])[] {
  const { config, accounts, usage, health, usageStore, signingKeys, log } = core;
  /** Returns a function that runs a task and logs its failure. The timer runs the task again. */
  const attempt = (failure: string, run: () => Promise<unknown>) => () =>
    run().catch((error) => logFailure(log, failure, error));
  const resetPasswords = () =>
    handlePasswordRequests(config.data, async (request) => {
      await applyReset(core, config.data, request);
      log.info('password reset by a local command');
    });
  const foldForBackups = async () => {
    if (health.ready) await handleFoldRequests(config.data, () => usageStore.freshen());
  };
  // Commits check the files, too. This task covers periods without commits.
  const checkFiles = () => {
    try {
      for (const { lmdb } of [accounts, usage]) lmdb.fileIdentity.check();
    } catch (error) {
      health.failed(error);
    }
  };
  return [
    [500, attempt('reading password requests failed', resetPasswords)],
    [500, attempt('folding the journal for a backup failed', foldForBackups)],
    [1000, () => grpc.setServing(checkReadiness(core).counting.ready)],
    [1000, () => status.look()],
    [1000, () => core.intake.flushLedger()], // Commits also write the ledger.
    [1000, checkFiles],
    [2000, attempt('reading the signing keys failed', () => signingKeys.refresh())], // See `flagmeter signing-keys rotate`.
    [10_000, () => core.readers.forEach((each) => void each.look())],
    [60_000, () => flushLastUses(core)],
    [60_000, () => core.disks.look()],
  ];
}

/** Frees the memory of a deleted application or environment. */
function forgetDeleted({ counting, front }: Core, { application, environments, whole }: Deletion): void {
  for (const environment of environments) {
    counting.dictionary.forget(environment);
    counting.senders.forget(environment);
  }
  front.forget({ application, environments, whole });
  if (!whole) return;
  counting.rates.forget(application);
  counting.messages.forget(application);
}

/** Owner of webhook reports in the queue of the report thread, which serves owners round robin. */
const webhookReports = 'webhooks';

function webhookWork(core: Core, rest: Pause): readonly (() => Promise<void>)[] {
  const { config, accountStore, directory, log, reports, usageStore, counting, deliverer } = core;
  const staleAfterMs = config.staleAfter * 86_400_000;
  const completeThrough = async () => (await usageStore.freshen('any'))?.completeThrough;
  const watch = new Watch({
    accountStore,
    directory,
    log,
    pause: rest,
    staleAfterMs,
    find: (task) => reports.make(webhookReports, 'watch', task),
    findForDigest: async (application, now) => {
      const declared = [...directory.getFeatures(application.id).values()];
      const task = { environments: application.environments, declared, now, staleAfterMs };
      const found = await reports.make(webhookReports, 'cleanup', task);
      return { ...found, experiments: listConclusions(directory, application, now) };
    },
    completeThrough,
    refusals: (): ReadonlyMap<RefusalCode, number> => counting.ledger.unattributed,
  });
  const failed = (error: unknown) => logFailure(log, 'removing old webhook deliveries failed', error);
  return [
    () => deliverer.run(rest),
    () => watch.run(),
    () => finishExperiments({ directory, log, reports, completeThrough, pause: rest }),
    () => sweepWebhooks({ ...core, pause: rest, failed }),
  ];
}

/** Pause between two steps in ms. It limits the scan to a small share of the report thread and the disk. */
const betweenStepsMs = 20;

/** Owner of the scan in the queue of the report thread, which serves owners round robin. */
const scanOwner = '';

/** Reads the whole usage store in the background, to find damage before a request needs the data. */
async function scanUsage({ usage, reports, log }: Core, rest: Pause): Promise<void> {
  let inOrder = true;
  for (const table of listTables(usage)) {
    try {
      let after: Uint8Array | undefined;
      do {
        if (!(await rest(betweenStepsMs))) return;
        after = await reports.make(scanOwner, 'scan', { table, after });
      } while (after !== undefined);
    } catch (error) {
      inOrder = false;
      log.error('the usage store is damaged', { table, error });
    }
  }
  if (inOrder) log.info('the usage store is intact');
}

function listTables(usage: UsageTables): readonly UsageTable[] {
  return Object.keys(usage).filter((name): name is UsageTable => name !== 'lmdb');
}
