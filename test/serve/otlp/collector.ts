import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import protobuf from 'protobufjs';

const protos = join(import.meta.dirname, '../../fixtures/opentelemetry-proto');

/** Loads a message type of the published proto files. */
function loadType(file: string, name: string): protobuf.Type {
  const root = new protobuf.Root();
  root.resolvePath = (_, target) => join(protos, target);
  return root.loadSync(`opentelemetry/proto/collector/${file}`).lookupType(name);
}

const types: Readonly<Record<string, protobuf.Type>> = {
  '/v1/metrics': loadType(
    'metrics/v1/metrics_service.proto',
    'opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceRequest',
  ),
  '/v1/traces': loadType(
    'trace/v1/trace_service.proto',
    'opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest',
  ),
};

export interface ReceivedMessage {
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  // biome-ignore lint/suspicious/noExplicitAny: each test expects another type
  readonly message: any;
}

// biome-ignore lint/suspicious/noExplicitAny: a decoded message, with ids in hexadecimal
export type Span = any;

export interface Metric {
  // biome-ignore lint/suspicious/noExplicitAny: decoded messages
  readonly points: any[];
  readonly isMonotonic: boolean;
  readonly temporality: string;
}

/** The usage of an application in one push. */
export interface Usage {
  readonly headers: ReceivedMessage['headers'];
  /** The metrics by name. */
  readonly metrics: ReadonlyMap<string, Metric>;
}

/** The first span of a trace has no parent. */
const hex = (text = '') => Buffer.from(text, 'base64').toString('hex');

export function readValues(
  attributes: { key: string; value: { stringValue?: string; intValue?: number } }[],
): Record<string, string | number | undefined> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue]));
}

// biome-ignore lint/suspicious/noExplicitAny: decoded messages
function metricsIn(scopeMetrics: any[]): ReadonlyMap<string, Metric> {
  const metrics = scopeMetrics.flatMap(({ metrics }) => metrics);
  return new Map(
    metrics.map(({ name, sum, gauge }): [string, Metric] => {
      const { dataPoints, isMonotonic = false, aggregationTemporality = '' } = sum ?? gauge;
      return [name, { points: dataPoints, isMonotonic, temporality: aggregationTemporality }];
    }),
  );
}

/** A server that receives OTLP over HTTP, and decodes the messages. */
export class TestCollector {
  readonly received: ReceivedMessage[] = [];
  /** Status of the responses. */
  status = 200;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async open(): Promise<TestCollector> {
    const server = createServer();
    const collector = new TestCollector(server);
    server.on('request', async (request, response) => {
      const body: Buffer[] = [];
      for await (const chunk of request) body.push(chunk);
      const path = request.url ?? '';
      const type = types[path];
      if (type !== undefined && collector.status === 200) {
        const message = type.toObject(type.decode(Buffer.concat(body)), {
          longs: Number,
          bytes: String,
          enums: String,
        });
        collector.received.push({ path, headers: request.headers, message });
      }
      response.writeHead(type === undefined ? 404 : collector.status).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return collector;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Returns the messages that were received at a path. */
  at(path: string): ReceivedMessage[] {
    return this.received.filter((each) => each.path === path);
  }

  /** Returns the spans of a trace, with ids in hexadecimal. */
  listSpans(traceId: string): Span[] {
    const all = this.at('/v1/traces')
      .flatMap(({ message }) => message.resourceSpans)
      .flatMap(({ scopeSpans }) => scopeSpans)
      .flatMap(({ spans }) => spans)
      .map((span) => ({
        ...span,
        traceId: hex(span.traceId),
        spanId: hex(span.spanId),
        parent: hex(span.parentSpanId),
      }));
    return all.filter((span) => span.traceId === traceId);
  }

  /** Returns the received usage of an application, earliest first. */
  listUsage(application: string): Usage[] {
    return this.at('/v1/metrics').flatMap(({ headers, message }) =>
      // biome-ignore lint/suspicious/noExplicitAny: decoded messages
      (message.resourceMetrics as any[])
        .filter(({ resource }) => readValues(resource.attributes)['flagmeter.application.id'] === application)
        .map(({ scopeMetrics }) => ({ headers, metrics: metricsIn(scopeMetrics) })),
    );
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}
