import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import protobuf from 'protobufjs';

const protos = join(import.meta.dirname, '../../fixtures/opentelemetry-proto');

/** The messages of the published proto files, in their JSON form. */
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

export interface Received {
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  // biome-ignore lint/suspicious/noExplicitAny: what a test expects of it says what it is
  readonly message: any;
}

/** A server that takes OTLP over HTTP, and decodes it. */
export class TestCollector {
  readonly received: Received[] = [];
  /** Answers this status instead of 200. */
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

  /** What came to a path. */
  at(path: string): Received[] {
    return this.received.filter((each) => each.path === path);
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}
