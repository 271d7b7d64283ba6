import { expect, test, vi } from 'vitest';
import type { Started } from './binary.ts';
import type { Prometheus } from './prometheus.ts';

/** Flags with which an executable shows its metrics at an address of their own. */
export const ops = ['--ops-listen', '127.0.0.1:0'];

/** HOST:PORT of these metrics, as the ready line has it. */
export const opsOf = ({ line }: Started) => /\bops=(\S+)/.exec(line)![1]!;

/** Something that goes wrong with an executable, and the alerts that must tell of it. */
export interface Fault {
  readonly what: string;
  readonly alerts: readonly string[];
  /** HOST:PORT of its metrics. */
  target(): string;
  /** Makes it go wrong. What it returns ends the fault. */
  provoke(): Promise<unknown>;
  /** Is called again and again until the alerts fire. */
  goOn?(): Promise<unknown>;
}

/** A scrape and an evaluation take a second each. */
const inTime = { timeout: 90_000, interval: 500 };

/** A test that its alerts do not fire before the fault, and do after it. @param longMs how long they may take */
export async function expectAlerts(prometheus: Prometheus, fault: Fault, longMs = 0): Promise<void> {
  const firing = async () => {
    const all = await prometheus.firingAt(fault.target());
    return fault.alerts.filter((alert) => all.includes(alert));
  };
  const scraped = `up{instance="${fault.target()}"} == 1`;
  await vi.waitFor(async () => expect(await prometheus.query(scraped)).toHaveLength(1), inTime);
  expect(await firing()).toEqual([]);
  await fault.provoke();
  const fires = async () => {
    await fault.goOn?.();
    expect(await firing()).toEqual(fault.alerts);
  };
  await vi.waitFor(fires, { ...inTime, timeout: inTime.timeout + longMs });
}

/** Faults of different services, at once. */
export function testAtOnce(prometheus: () => Prometheus, faults: readonly Fault[], longMs = 0): void {
  test.concurrent.each(faults.map((fault) => [fault.what, fault] as const))(
    '%s',
    (_, fault) => expectAlerts(prometheus(), fault, longMs),
    60_000 + longMs,
  );
}
