import { Client, credentials, type ServiceError, status } from '@grpc/grpc-js';
import type { TimerClock } from '../../runtime/clock.ts';
import { increase } from '../../runtime/counts.ts';
import { type LoadResult, LoadRun, newSlot, type Share, type Slot } from './load-run.ts';
import type { GrpcPlan } from './plan.ts';
import { stampReport } from './reports.ts';

/** Maximum time for opening a connection, milliseconds. */
const connectMs = 10_000;

/** Clients do not share connections. Calls are neither retried nor counted for channelz, the debug service of gRPC. */
const options = {
  'grpc.use_local_subchannel_pool': 1,
  'grpc.enable_retries': 0,
  'grpc.enable_channelz': 0,
  'grpc.primary_user_agent': 'flagmeter-bench',
};

/** A slot of a connection for one call at a time. */
interface Stream extends Slot {
  readonly client: Client;
  readonly instance: number;
}

const asItIs = (bytes: Buffer): Buffer => bytes;

/** Makes this thread's share of the calls of a plan, and waits for every response. */
export class GrpcDriver {
  readonly #plan: GrpcPlan;
  readonly #share: Share;
  readonly #clock: TimerClock;
  readonly #message: Buffer;
  readonly #response: Buffer;
  readonly #load: LoadRun<Stream>;
  readonly #errors = new Map<string, number>();
  readonly #clients: Client[] = [];
  #number: number;
  #succeeded = 0;

  constructor(plan: GrpcPlan, share: Share, clock: TimerClock) {
    this.#plan = plan;
    this.#share = share;
    this.#clock = clock;
    this.#message = Buffer.from(plan.message, 'base64');
    this.#response = Buffer.from(plan.response, 'base64');
    this.#number = plan.firstNumber;
    this.#load = new LoadRun(plan, share, clock, (stream) => this.#call(stream));
  }

  /** @throws {Error} if no server listens at the address */
  async connect(connections: number): Promise<void> {
    await Promise.all(Array.from({ length: connections }, (_, index) => this.#connect(index)));
  }

  async run(): Promise<LoadResult> {
    const measured = await this.#load.run();
    if (measured.unanswered > 0) this.#errors.set('unanswered', measured.unanswered);
    for (const client of this.#clients) client.close();
    return { ...measured, accepted: [this.#succeeded], errors: Object.fromEntries(this.#errors) };
  }

  async #connect(index: number): Promise<void> {
    const { host, port, streams } = this.#plan;
    const client = new Client(`${host}:${port}`, credentials.createInsecure(), options);
    this.#clients.push(client);
    await new Promise<void>((resolve, reject) =>
      client.waitForReady(this.#clock.now() + connectMs, (error) => (error ? reject(error) : resolve())),
    );
    const instance = this.#share.index + index * this.#share.of;
    for (let stream = 0; stream < streams; stream++) this.#load.add({ ...newSlot, client, instance });
  }

  #call(stream: Stream): void {
    stampReport(this.#message, this.#plan.positions, stream.instance, this.#number++);
    stream.client.makeUnaryRequest(this.#plan.path, asItIs, asItIs, Buffer.from(this.#message), (error, response) => {
      const failure = this.#describeFailure(error, response);
      if (failure === undefined) this.#succeeded++;
      else increase(this.#errors, failure);
      this.#load.countResponse(stream, failure === undefined);
    });
  }

  #describeFailure(error: ServiceError | null, response: Buffer | undefined): string | undefined {
    if (error !== null) return status[error.code];
    return response !== undefined && this.#response.equals(response) ? undefined : 'answer';
  }
}
