import { expect, test, vi } from 'vitest';
import type { StartedProcess } from './binary.ts';
import { patienceMs } from './patience.ts';
import type { Prometheus } from './prometheus.ts';

/** Options for a separate listener of `GET /metrics`. */
export const ops = ['--ops-listen', '127.0.0.1:0'];

/** Returns HOST:PORT of the separate metrics listener, from the ready line. */
export const findOpsAddress = ({ line }: StartedProcess) => /\bops=(\S+)/.exec(line)![1]!;

/** A fault of an executable, and the alerts that the fault must trigger. */
export interface Fault {
  readonly what: string;
  readonly alerts: readonly string[];
  /** Returns HOST:PORT of the executable's metrics. */
  target(): string;
  /** Starts the fault. */
  provoke(): Promise<unknown>;
  /** Continues the fault. It is called repeatedly until the alerts fire. */
  goOn?(): Promise<unknown>;
}

/** Prometheus needs a second for a scrape, and another for an evaluation. */
const often = { interval: 500 };

/** Tests that the alerts of a fault fire after the fault, and not before it. @param longMs time that an alert needs */
export async function expectAlerts(prometheus: Prometheus, fault: Fault, longMs = 0): Promise<void> {
  const firing = async () => {
    const all = await prometheus.firingAt(fault.target());
    return fault.alerts.filter((alert) => all.includes(alert));
  };
  const scraped = `up{instance="${fault.target()}"} == 1`;
  await vi.waitFor(async () => expect(await prometheus.query(scraped)).toHaveLength(1), often);
  expect(await firing()).toEqual([]);
  await fault.provoke();
  const fires = async () => {
    await fault.goOn?.();
    expect(await firing()).toEqual(fault.alerts);
  };
  await vi.waitFor(fires, { ...often, timeout: patienceMs + longMs });
}

/** Tests faults of several services at the same time. */
export function testAtOnce(prometheus: () => Prometheus, faults: readonly Fault[], longMs = 0): void {
  test.concurrent.each(faults.map((fault) => [fault.what, fault] as const))(
    'the alerts of Prometheus report %s',
    (_, fault) => expectAlerts(prometheus(), fault, longMs),
    5 * patienceMs + longMs,
  );
}
