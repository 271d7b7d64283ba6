/*
 * src/bench: `flagmeter bench`, which sizes a machine. sweep.ts plans the stages, own-server.ts starts a server for each combination of
 * settings, and sweep-runner.ts drives it with the load generator of `load`. outcome.ts draws the conclusions, and report.ts writes them.
 */

import { writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { version } from '../../package.json' with { type: 'json' };
import type { Given, Terminal } from '../cli/command.ts';
import { type Context, contextOf } from '../cli/context.ts';
import { Failure } from '../cli/failure.ts';
import { UsageError } from '../cli/flags.ts';
import { interruptible } from '../cli/progress.ts';
import { systemClock } from '../runtime/clock.ts';
import { usableCores } from '../runtime/cores.ts';
import { builtIn } from '../serve/built-in.ts';
import { findingsOf } from './findings.ts';
import { countOf } from './measurement.ts';
import { sweepOptions } from './options.ts';
import { conclude, type Machine, type Outcome } from './outcome.ts';
import { reportHtml } from './report.ts';
import { runningServer } from './running-server.ts';
import { planSweep, type SweepPlan } from './sweep.ts';
import { lateFactor, sweep } from './sweep-runner.ts';
import { paragraph, tablesText } from './table.ts';
import { checkReportFile, makeTemporaryFolder } from './temporary-folder.ts';

const usualReport = 'flagmeter-bench.html';

/**
 * Measures this machine, or a running server.
 * @returns exit code: 0 if every acknowledged packet was reported, else 1
 * @throws {UsageError} for wrong flags, and for a server that is not on this machine
 * @throws {Failure} if a stage fails, or the command was interrupted
 */
export async function bench(given: Given, terminal: Terminal): Promise<number> {
  if (process.versions['bun'] === undefined)
    throw new UsageError('Cannot use bench on Node: the load generator is part of the executable');
  const context = contextOf(terminal);
  const own = !given.has('url');
  if (own && (given.has('grpc') || given.has('i-own-this-host')))
    throw new UsageError('Cannot use --grpc or --i-own-this-host without --url');
  const plan = planSweep(sweepOptions(given, own));
  const file = given.value('report') ?? usualReport;
  checkReportFile(file);
  const running = own ? undefined : runningServer(given, context);
  const folder = running ? undefined : makeTemporaryFolder(given.value('data'));
  try {
    announce(plan, context, folder?.path);
    const notes = folder?.isInMemory
      ? ['The store is in memory, where flushes cost nothing: choose --data.']
      : [];
    const generatorFile = builtIn().workerFile('bench/load/generator-thread');
    const swept = await interruptible((over) =>
      sweep(plan, { context, running, folder: folder?.path ?? '', generatorFile, clock: systemClock, over }),
    );
    const outcome = conclude(swept, plan.base, machine(), notes, own);
    if (swept.measurements.length > 0) present(outcome, file, given, context);
    if (swept.failure !== undefined) throw swept.failure;
    return outcome.exact ? 0 : 1;
  } finally {
    folder?.remove();
  }
}

function announce({ runs, expectedSeconds }: SweepPlan, { err }: Context, folder: string | undefined): void {
  const stages = runs.flatMap((run) => run.stages).length;
  const most = expectedSeconds * lateFactor;
  err(
    `${countOf(stages, 'stage')} in ${countOf(runs.length, 'run')}: ${expectedSeconds} s, or up to ${most} s on a busy machine.\n`,
  );
  if (folder !== undefined) err(`Temporary stores: ${folder}\n`);
  err('Ctrl-C stops with a partial report.\n');
}

function present(outcome: Outcome, file: string, given: Given, { out, err, bold, width }: Context): void {
  if (given.has('json')) out(`${JSON.stringify(outcome)}\n`);
  else {
    out(tablesText(outcome.measurements, outcome.base, { bold, width }));
    for (const { title, text } of findingsOf(outcome)) out(`\n${title}\n${paragraph(text)}`);
  }
  try {
    writeFileSync(file, reportHtml(outcome));
    err(`Report: ${file}\n`);
  } catch (error) {
    throw new Failure('failed', `Cannot write the report to ${file}: ${(error as Error).message}`);
  }
}

function machine(): Machine {
  const processor = cpus()[0]?.model.trim() || 'unknown processor';
  const cores = usableCores();
  return { version, cores, processor, memory: totalmem(), at: systemClock.now() };
}
