import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { version } from '../../package.json' with { type: 'json' };
import type { Arguments, Terminal } from '../cli/command.ts';
import { type Context, createContext } from '../cli/context.ts';
import { Failure } from '../cli/failure.ts';
import { UsageError } from '../cli/options.ts';
import { interruptible } from '../cli/progress.ts';
import { systemClock } from '../runtime/clock.ts';
import { usableCores } from '../runtime/cores.ts';
import { explainFileError } from '../runtime/files.ts';
import { builtIn } from '../serve/built-in.ts';
import { formatCount } from './measurement.ts';
import { sweepOptions } from './options.ts';
import { reportHtml } from './report.ts';
import { type BenchResult, conclude, listFindings, type Machine } from './result.ts';
import { planSweep, type SweepPlan } from './sweep.ts';
import { lateFactor, sweep } from './sweep-runner.ts';
import { paragraph, tablesText } from './table.ts';
import { runningServer } from './target.ts';

/*
 * src/bench: `flagmeter bench`, which sizes a machine. sweep.ts plans the stages, target.ts starts a server for each
 * combination of settings, and sweep-runner.ts drives it with the load generator of `load`. result.ts draws the
 * conclusions, and report.ts writes them.
 */

const usualReport = 'flagmeter-bench.html';

/**
 * Measures this machine, or a running server.
 * @returns exit code: 0 if every acknowledged packet was reported, else 1
 * @throws {UsageError} for invalid options, and for a server that is not on this machine
 * @throws {Failure} if a stage fails, or the command was interrupted
 */
export async function bench(given: Arguments, terminal: Terminal): Promise<number> {
  if (process.versions['bun'] === undefined)
    throw new UsageError('Cannot use bench on Node: the load generator is part of the executable');
  const context = createContext(terminal);
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
      ? ['The store is in memory, where flushes cost nothing: name a folder on a disk with --data.']
      : [];
    const generatorFile = builtIn().workerFile('bench/load/generator-thread');
    const swept = await interruptible((over) =>
      sweep(plan, { context, running, folder: folder?.path ?? '', generatorFile, clock: systemClock, over }),
    );
    const result = conclude(swept, plan.base, machine(), notes, own);
    if (swept.measurements.length > 0) present(result, file, given, context);
    if (swept.failure !== undefined) throw swept.failure;
    return result.exact ? 0 : 1;
  } finally {
    folder?.remove();
  }
}

function announce({ runs, expectedSeconds }: SweepPlan, { err }: Context, folder: string | undefined): void {
  const stages = runs.flatMap((run) => run.stages).length;
  const most = expectedSeconds * lateFactor;
  err(
    `${formatCount(stages, 'stage')} in ${formatCount(runs.length, 'run')}: ${expectedSeconds} s, or up to ${most} s on a busy machine.\n`,
  );
  if (folder !== undefined) err(`Temporary stores: ${folder}\n`);
  err('Ctrl-C stops the bench and writes a partial report.\n');
}

function present(result: BenchResult, file: string, given: Arguments, { out, err, styled, width }: Context): void {
  if (given.has('json')) out(`${JSON.stringify(result)}\n`);
  else {
    out(tablesText(result.measurements, result.base, { styled, width }));
    for (const { title, text } of listFindings(result)) out(`\n${title}\n${paragraph(text)}`);
  }
  try {
    writeFileSync(file, reportHtml(result));
    err(`Report: ${file}\n`);
  } catch (error) {
    throw new Failure('failed', `Cannot write the report to ${file}: ${explainFileError(error, file)}`);
  }
}

function machine(): Machine {
  const processor = cpus()[0]?.model.trim() || 'unknown processor';
  const cores = usableCores();
  return { version, cores, processor, memory: totalmem(), at: systemClock.now() };
}

const tmpfs = 0x01021994;

interface TemporaryFolder {
  /** Absolute path. */
  readonly path: string;
  /** True if the folder is in memory, where flushing to disk takes no time. */
  readonly isInMemory: boolean;
  remove(): void;
}

/**
 * Creates a folder that is removed at the latest when the process exits.
 * @param wanted path of the folder, which must not exist; by default a new folder in the current directory
 * @throws {UsageError} if the path exists
 * @throws {Error} if it cannot be created
 */
function makeTemporaryFolder(wanted: string | undefined): TemporaryFolder {
  const path = make(wanted);
  const remove = () => rmSync(path, { recursive: true, force: true, maxRetries: 3 });
  process.once('exit', remove);
  return { path, isInMemory: statfsSync(path).type === tmpfs, remove };
}

function make(wanted: string | undefined): string {
  const path = wanted === undefined ? process.cwd() : resolve(wanted);
  if (wanted !== undefined && existsSync(path))
    throw new UsageError(
      `Cannot use --data ${path}: it exists, and the folder is removed afterwards. Name a new folder on the disk to measure`,
    );
  try {
    if (wanted === undefined) return mkdtempSync(join(path, 'flagmeter-bench-'));
    mkdirSync(path, { mode: 0o700 });
    return path;
  } catch (error) {
    const what = wanted === undefined ? `a folder in ${path}` : path;
    throw new Error(
      `Cannot create ${what} for temporary stores: ${(error as Error).message}. Name another folder with --data`,
    );
  }
}

/** Checks in advance that the report can be written, because the measurement takes minutes. @throws {UsageError} */
function checkReportFile(path: string): void {
  try {
    const file = resolve(path); // An empty path resolves to the working directory.
    const exists = existsSync(file);
    if (exists && statSync(file).isDirectory()) throw new Error('this is a folder; name a file');
    accessSync(exists ? file : dirname(file), constants.W_OK);
  } catch (error) {
    throw new UsageError(`Cannot use --report ${path}: ${explainFileError(error, dirname(resolve(path)))}`);
  }
}
