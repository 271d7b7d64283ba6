/*
 * src/demo: a server on a throw-away store. story.ts tells what a made-up shop does (flags.ts, rhythm.ts, people.ts,
 * senders.ts), history.ts writes the last 90 days of it, and traffic.ts goes on with it, live.
 */
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { type Given, readGiven } from '../cli/command.ts';
import { demoCommand } from '../cli/server-commands.ts';
import { authority } from '../runtime/address.ts';
import { systemClock } from '../runtime/clock.ts';
import { logConsole } from '../runtime/console-log.ts';
import { UsageError } from '../runtime/flags.ts';
import { createLog, type Log } from '../runtime/log.ts';
import type { Terminal } from '../runtime/terminal.ts';
import { shareLogFormat } from '../runtime/worker-log.ts';
import { builtIn } from '../serve/built-in.ts';
import { publicUrls } from '../serve/public-urls.ts';
import { startService } from '../serve/service.ts';
import { listenToSignals, type Signals } from '../serve/signals.ts';
import { stopService } from '../serve/stop-service.ts';
import { type BoundDemo, bindDemo } from './bind-demo.ts';
import { fillStore } from './fill-store.ts';
import { makeThrowAway, type ThrowAway } from './throw-away.ts';
import { startTraffic } from './traffic.ts';
import { type ReadyDemo, welcomeText } from './welcome-text.ts';

/**
 * Runs a demo until SIGTERM or SIGINT. Nothing of it stays.
 * @returns exit code: 0 after a signal, 1 after a failure
 * @throws {UsageError} for wrong flags
 * @throws {Error} when the temp directory or an address cannot be used
 */
export async function demo(argv: readonly string[], terminal: Terminal): Promise<number> {
  const beganAt = systemClock.monotonic();
  const given = readGiven(demoCommand, argv);
  const seed = readSeed(given.value('seed'));
  const format = terminal.interactive ? 'text' : 'json';
  shareLogFormat(format);
  const log = createLog('warn', terminal.err, systemClock, format);
  const putConsoleBack = logConsole(log);
  try {
    const signals = listenToSignals(terminal);
    return await runIn(makeThrowAway(tmpdir(), systemClock), {
      given,
      seed,
      log,
      terminal,
      signals,
      beganAt,
    });
  } finally {
    putConsoleBack();
  }
}

interface Running {
  readonly given: Given;
  readonly seed: number;
  readonly log: Log;
  readonly terminal: Terminal;
  readonly signals: Signals;
  /** Monotonic time of the start, ms. */
  readonly beganAt: number;
}

async function runIn(place: ThrowAway, running: Running): Promise<number> {
  const { given, log, signals } = running;
  const stopping = new AbortController();
  void signals.toldToStop.then(() => stopping.abort());
  try {
    const wanted = {
      listen: given.value('listen'),
      grpcListen: given.value('grpc-listen'),
      authUrl: given.value('auth-url'),
    };
    const listening = await bindDemo(wanted, place.data, log);
    try {
      return await serveOn(listening, place, running, stopping.signal);
    } catch (error) {
      await listening.bound.close(0);
      if (stopping.signal.aborted) return await signals.toldToStop;
      throw error;
    }
  } finally {
    place.remove();
  }
}

async function serveOn(
  { config, bound }: BoundDemo,
  place: ThrowAway,
  running: Running,
  stopping: AbortSignal,
): Promise<number> {
  const { seed, log, signals, terminal } = running;
  if (terminal.interactive)
    terminal.err('Filling the store with 90 days of sample data: this takes some seconds\n');
  const { credentials, accounts, shop, story } = await fillStore(
    config,
    seed,
    { clock: systemClock, randomBytes },
    stopping,
  );
  const parts = { ...builtIn(), config, accounts, clock: systemClock, randomBytes, log, fatal: signals.fail };
  const service = await startService(parts, bound);
  place.lock.coverFiles();
  const { listener } = bound.listeners[0]!;
  const grpc = authority(bound.grpc.host, bound.grpc.port);
  const nearby = `http://${authority(listener.host, listener.port)}`;
  const stopTraffic = startTraffic({ url: nearby, grpc, shop, story, clock: systemClock });
  const { api: url } = publicUrls(config, bound.listeners);
  tellReady({ ...credentials, url, grpc, data: config.data }, running);
  const code = await signals.toldToStop;
  stopTraffic();
  await stopService(service, config, code);
  return code;
}

function tellReady(ready: Omit<ReadyDemo, 'seconds'>, { given, terminal, beganAt }: Running): void {
  const seconds = (systemClock.monotonic() - beganAt) / 1000;
  const demo = { ...ready, seconds };
  terminal.out(given.has('json') ? `${JSON.stringify(demo)}\n` : welcomeText(demo));
}

/** @throws {UsageError} */
function readSeed(text = '1'): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new UsageError(`Cannot use --seed ${text}: must be a whole number of up to nine digits`);
}
