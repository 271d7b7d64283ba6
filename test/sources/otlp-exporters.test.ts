import type { IncomingMessage } from 'node:http';
import { DiagLogLevel, diag } from '@opentelemetry/api';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import {
  type Binary,
  type Credentials,
  createApplication,
  createKey,
  freshDirectory,
  prepare,
  startBinary,
  stop,
  token,
} from '../support/binary.ts';
import { readLedger } from '../support/ledger-report.ts';
import { readChecks } from '../support/shop.ts';
import { type Encoding, type Evaluator, signals } from './exporters.ts';
import { type Fault, Gateway } from './gateway.ts';

/** OpenTelemetry's published exporters as clients of the executable. */

const data = `${freshDirectory()}/data`;
let credentials: Credentials;
let service: Binary;

beforeAll(async () => {
  credentials = await prepare(data);
  service = await startBinary({ data });
});

/** A service that evaluates flags, with a separate application. */
interface Sender extends Evaluator {
  readonly name: string;
  readonly key: string;
  readonly application: string;
}

const overHttp: readonly Encoding[] = ['protobuf', 'json'];

/**
 * Opens a sender of each signal in each encoding.
 * @param address destination of the exports @param fields fields of the senders' applications
 */
async function openSenders(
  address: string,
  fields: object = { rate: 0 },
  encodings: readonly Encoding[] = overHttp,
): Promise<Sender[]> {
  const access = await token(service.http, credentials);
  const kinds = Object.entries(signals).flatMap(([signal, open]) =>
    encodings.map((encoding) => [`${signal} as ${encoding}`, open, encoding] as const),
  );
  return Promise.all(
    kinds.map(async ([name, open, encoding]) => {
      const application = await createApplication(service.http, access, { name, ...fields });
      const { key } = await createKey(service.http, access, application, 'Backend');
      return { name, key, application, ...open(address, key, encoding) };
    }),
  );
}

function evaluate(senders: readonly Sender[], evaluations: number): void {
  for (const sender of senders) for (let n = 0; n < evaluations; n += 1) sender.evaluate('checkout');
}

const flush = (senders: readonly Sender[]) => Promise.all(senders.map((sender) => sender.forceFlush()));
const shutDown = (senders: readonly Sender[]) => Promise.all(senders.map((sender) => sender.shutdown()));

/** Checks that each sender's evaluations are counted. */
async function expectChecks(senders: readonly Sender[], evaluations: number): Promise<void> {
  const counted = senders.map(async ({ name, application }) => {
    const checks = await readChecks(service.http, { credentials, application });
    return [name, checks.get('checkout')];
  });
  expect(await Promise.all(counted)).toEqual(senders.map(({ name }) => [name, evaluations]));
}

/** Counts the retries that the exporters log. */
function watchRepetitions(): { count: number } {
  const seen = { count: 0 };
  const verbose = (message: string) => {
    if (message.startsWith('Scheduling export retry')) seen.count += 1;
  };
  const nothing = () => {};
  const logger = { verbose, debug: nothing, info: nothing, warn: nothing, error: nothing };
  diag.setLogger(logger, { logLevel: DiagLogLevel.ALL, suppressOverrideMessage: true });
  return seen;
}

describe("OpenTelemetry's exporters", () => {
  test('evaluations in several batches, and before a shutdown of the sender, are counted once', async () => {
    const overGrpc = await openSenders(service.grpc, { rate: 0 }, ['grpc']);
    const senders = [...(await openSenders(service.http)), ...overGrpc];
    evaluate(senders, 1200);
    await flush(senders);
    evaluate(senders, 34);
    await shutDown(senders);
    await expectChecks(senders, 1234);
  });

  test('evaluations that an exporter sends again after a reset or a 503 are counted once', async () => {
    const left = new Map<string, Fault[]>();
    const chooseFault = ({ headers }: IncomingMessage) => left.get(headers.authorization!)?.shift();
    const gateway = await Gateway.open(service.http, { chooseFault });
    const senders = await openSenders(gateway.http);
    for (const { key } of senders) left.set(`Bearer ${key}`, ['reset', 503]);
    evaluate(senders, 5);
    await flush(senders);
    expect([...left.values()].flat()).toEqual([]);
    evaluate(senders, 2);
    await shutDown(senders);
    await expectChecks(senders, 7);
  });

  /** Exporters for gRPC are excluded, because they do not repeat a refused call. */
  test('evaluations that an exporter sends again after a refusal by the rate limit are counted once', async () => {
    const senders = await openSenders(service.http, { rate: 1, burst: 1 });
    evaluate(senders, 5);
    await flush(senders);
    evaluate(senders, 2);
    await shutDown(senders);
    await expectChecks(senders, 7);
    const access = await token(service.http, credentials);
    for (const { application } of senders) {
      const { entries } = await readLedger(service.http, access, application);
      expect(entries.some(({ outcome, status }) => outcome === 'refused' && status === 429)).toBe(true);
    }
  });

  test('evaluations are counted once if the server is killed before its response and restarted later', async () => {
    const repetitions = watchRepetitions();
    const answered = new Set<string>();
    const chooseFault = ({ headers }: IncomingMessage) => {
      const isFirst = !answered.has(headers.authorization!);
      answered.add(headers.authorization!);
      return isFirst ? ('lose the answer' as const) : undefined;
    };
    const gateway = await Gateway.open(service.http, { chooseFault });
    const senders = await openSenders(gateway.http);
    evaluate(senders, 5);
    const flushed = flush(senders);
    await vi.waitFor(() => expect(repetitions.count).toBe(senders.length));
    gateway.close();
    await stop(service, 'SIGKILL');
    await vi.waitFor(() => expect(repetitions.count).toBe(2 * senders.length));
    service = await startBinary({ data });
    gateway.target = service.http;
    await gateway.open();
    await flushed;
    evaluate(senders, 2);
    await shutDown(senders);
    await expectChecks(senders, 7);
  });
});
