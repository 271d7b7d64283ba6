import { setTimeout as pause } from 'node:timers/promises';
import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import type { PushMetricExporter, ResourceMetrics } from '@opentelemetry/sdk-metrics';
import { monthOf } from '../../management/month-usage.ts';
import type { UsageStoreStatus } from '../../storage/commit/usage-store.ts';
import type { Application } from '../../storage/lmdb/records.ts';
import type { Core } from '../core.ts';
import { usageMetrics } from './usage-metrics.ts';

type PushDeps = Pick<Core, 'directory' | 'reports' | 'usageStore' | 'clock' | 'log'>;

/** Sends the usage of every application, one after another. */
export class UsagePush {
  readonly #core: PushDeps;
  readonly #exporter: Pick<PushMetricExporter, 'export'>;
  /** Whether a failure has been logged. */
  #isFailing = false;

  constructor(core: PushDeps, exporter: Pick<PushMetricExporter, 'export'>) {
    this.#core = core;
    this.#exporter = exporter;
  }

  /** Sends usage at an interval. @returns stops it */
  start(everyMs: number): () => Promise<void> {
    const stopping = new AbortController();
    const { signal } = stopping;
    const work = (async () => {
      while (await pause(everyMs, true, { signal, ref: false }).catch(() => false)) await this.#round(signal);
    })();
    return () => {
      stopping.abort();
      return work;
    };
  }

  /** Sends the usage of all applications once, if this machine is the sender. */
  async round(): Promise<void> {
    const { usageStore, directory } = this.#core;
    if (!isSender(usageStore.status())) return;
    await usageStore.freshen();
    for (const application of directory.applications.values()) await this.#push(application);
  }

  /** Logs the first of several failures, and the recovery. */
  async #round(signal: AbortSignal): Promise<void> {
    const { log } = this.#core;
    try {
      await this.round();
      if (this.#isFailing) log.info('sending usage to the collector works again');
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing && !signal.aborted)
        log.warn('sending usage to the collector failed; retrying', { error });
      this.#isFailing = true;
    }
  }

  async #push(application: Application): Promise<void> {
    const { reports, clock, directory } = this.#core;
    const at = clock.now();
    const since = monthOf(at);
    const range = { from: since / 60_000, to: Math.ceil((at + 1) / 60_000), step: 'day' } as const;
    const { id, teamId, environments } = application;
    const usage = await reports.make(teamId, 'monthUsage', { environments, range });
    const gauges = new Set(
      [...directory.metricsOf(id).values()].filter(({ kind }) => kind === 'gauge').map(({ name }) => name),
    );
    await this.#send(usageMetrics({ application, usage, gauges, since, at }));
  }

  #send(metrics: ResourceMetrics): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#exporter.export(metrics, ({ code, error }: ExportResult) => {
        if (code === ExportResultCode.SUCCESS) resolve();
        else reject(error ?? new Error('The collector refused the usage'));
      });
    });
  }
}

/**
 * Whether this machine sends usage. Among nodes, which all have the same counts, it is the one that is up and has the lowest
 * directory id. While nodes disagree, two may send the same points, or none does: sums are cumulative, so nothing is lost.
 */
export function isSender(
  status: Pick<UsageStoreStatus, 'directory' | 'postgres' | 'nodes'> | undefined,
): boolean {
  if (status === undefined) return true;
  if (!status.postgres.connected) return false;
  const up = status.nodes.filter(({ state }) => state === 'up').map(({ directory }) => directory);
  return up.sort()[0] === status.directory;
}
