import type { Dice } from '../dice.ts';
import { pause } from '../pause.ts';
import type { Round } from '../round.ts';
import { grpcReport } from './grpc-report.ts';
import { retryElsewhere } from './retry.ts';
import { all, telemetry } from './telemetry.ts';

/** Sends usage reports over HTTP or gRPC. Repeats each report on other nodes while its outcome is unknown. */
export async function sendMessages(round: Round, dice: Dice, name: string): Promise<void> {
  const sender = round.sender('feature', name);
  const { keys, environment } = round.shop;
  const head = { appKey: keys.Backend, environment, instanceName: name, processStartTime: drawStart(dice) };
  while (!round.isOver) {
    const { name: feature, variant, count, settle } = sender.next();
    const stats = [
      { feature, variantStats: { [variant]: { checkCount: count, usedCount: 1 } } },
      { feature: 'all', variantStats: { on: { checkCount: 1, usedCount: 1, viewedCount: 1 } } },
    ];
    const report = { ...head, time: formatTime(Date.now()), stats };
    const outcome = await retryElsewhere(round, dice, async (node) =>
      dice.chance(0.4)
        ? grpcReport(round, node.grpc, 'usage', report)
        : (await post(round, node.metrics, '/api/usage/stats', report)).outcome,
    );
    settle(outcome);
    await pause(dice.between(20, 150));
  }
}

/** Sends counters in reports with an id. Without an id, a repetition of a counter could not be recognised. */
export async function sendMetrics(round: Round, dice: Dice, name: string): Promise<void> {
  const sender = round.sender('metric', name);
  const { keys, environment } = round.shop;
  for (let number = 0; !round.isOver; number++) {
    const { name: metric, count, settle } = sender.next();
    const time = new Date().toISOString();
    const report = { appKey: keys.Backend, environment, time, counters: [{ metric, value: count }] };
    const headers = { 'idempotency-key': `${name}-${number}` };
    const outcome = await retryElsewhere(round, dice, async (node) =>
      dice.chance(0.4)
        ? grpcReport(round, node.grpc, 'metrics', report, headers)
        : (await post(round, node.metrics, '/api/metrics', report, headers)).outcome,
    );
    settle(outcome);
    await pause(dice.between(50, 250));
  }
}

/** Sends packets with an id, by which the service recognises repetitions. */
export async function sendNamedPackets(round: Round, dice: Dice, name: string): Promise<void> {
  const sender = round.sender('feature', name);
  for (let number = 0; !round.isOver; number++) {
    const { name: feature, variant, count, settle } = sender.next();
    const f = { [feature]: { [variant]: [count, 1] }, ...all };
    const headers = { 'idempotency-key': `${name}-${number}` };
    settle(
      await retryElsewhere(
        round,
        dice,
        async ({ metrics }) => (await telemetry(round, metrics, { f, m: { packets: 1 } }, headers)).outcome,
      ),
    );
    await pause(dice.between(20, 150));
  }
}

/**
 * Formats a time with a fraction of a millisecond. The service would attribute similar reports with whole milliseconds
 * to several processes.
 */
function formatTime(now: number): string {
  return new Date(now).toISOString().replace('Z', '5Z');
}

function post(round: Round, http: string, path: string, body: object, headers: Record<string, string> = {}) {
  return round.ask(http, { kind: 'report', method: 'POST', path, body, headers });
}

function drawStart(dice: Dice): string {
  return new Date(Date.now() - dice.between(1_000, 1_000_000)).toISOString();
}
