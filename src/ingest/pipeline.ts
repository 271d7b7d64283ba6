import type { KeyHolder } from '../accounts/key-index.ts';
import { Refusal } from '../contract/errors.ts';
import { SentBody } from '../http/sent-body.ts';
import type { LargeBodies } from './admission/large-bodies.ts';
import { type AdmissionDeps, admit, admitApplication, chargeSmall, Payer } from './admission.ts';
import { checkIdempotencyKey, type KeyFinder } from './count-once.ts';
import { cutBeginning } from './json-text.ts';
import type { Ledger, LedgerSource } from './ledger/ledger.ts';

export interface PipelineDeps extends AdmissionDeps {
  readonly keys: KeyFinder;
  readonly ledger: Ledger;
}

/** Sender named in a message, not checked yet. It pays for a large body, and its ledger records a refusal. */
export interface ClaimedSender {
  readonly appKey?: string | undefined;
  readonly environment?: string | undefined;
  readonly instanceName?: string | undefined;
}

export interface CountResult<Outgoing> {
  /** Resolves when the batch is on disk. @throws {Refusal} if nothing of the message was stored */
  readonly durable: Promise<unknown>;
  readonly response: Outgoing;
}

/** A counted or refused message, and the response to send once it is durable. */
interface MessageResult<Outgoing> extends Pick<Partial<CountResult<Outgoing>>, 'durable'> {
  readonly response: Outgoing | Promise<Outgoing>;
  readonly claimed?: ClaimedSender | undefined;
}

export type Body = Uint8Array | SentBody;

/** Maximum length of bodies that are processed in one event loop iteration, which takes a few milliseconds. */
const longBody = 64 * 1024;

interface LongMessage<Message> {
  readonly message: Message;
  readonly entries: number;
}

/** Steps that process long bodies of one kind without delaying other messages. */
export interface LongMessages<Incoming, Message, Sender> {
  /** Runs `work` on one body when it is the sender's turn. @throws {Refusal} if too many bodies are already waiting */
  schedule<T>(sender: string, work: () => Promise<T>): Promise<T>;
  /**
   * Decompresses and decodes a body in another thread. The body cannot be read afterwards.
   * @param unpacked receives the length of the body, even if it is then refused
   * @throws {Refusal}
   */
  decode(body: SentBody, incoming: Incoming, unpacked: (bytes: number) => void): Promise<LongMessage<Message>>;
  prepare(message: Message, sender: Sender, incoming: Incoming, nextStep: () => Promise<void>): Promise<void>;
}

export interface Decoder<in Format, out Decoded> extends Pick<LongMessages<never, never, never>, 'schedule'> {
  decode(body: SentBody, format: Format, unpacked: (bytes: number) => void): Promise<Decoded>;
}

/** Transport of messages. `Incoming` is a request or a call. */
export interface Transport<Incoming> {
  readonly transport: LedgerSource['transport'];
  userAgent(incoming: Incoming): string | undefined;
  address(incoming: Incoming): string;
  idempotencyKey(incoming: Incoming): string | undefined;
  /** Reads the body, decompressed or not, and charges `budget`. The pipeline releases the charge. @throws {Refusal} */
  read(incoming: Incoming, budget: LargeBodies): Body | Promise<Body>;
}

/**
 * Steps that depend on the kind of message and its transport. Each step refuses a message with a `Refusal`. `Sender` is
 * the application to which the message was resolved.
 */
export interface MessageHandler<Incoming, Message, Sender extends ResolvedSender, Outgoing>
  extends Transport<Incoming> {
  readonly route: LedgerSource['route'];
  origin?(incoming: Incoming): string | undefined;
  /** Refuses a message because of its headers, before the body is read. @throws {Refusal} of status 401 or 403 */
  authorize?(incoming: Incoming): void;
  /** Processing of long bodies. If this is absent, all bodies are processed on this thread. */
  readonly long?: LongMessages<Incoming, Message, Sender>;
  /** Decodes and checks the message. @throws {Refusal} of status 400 */
  check(body: Uint8Array, incoming: Incoming): Message;
  /** Finds the application. @throws {Refusal} of status 404 or 403 */
  resolve(message: Message, incoming: Incoming): Sender;
  /** Adds the whole message to a batch, before it returns. @param key the checked `Idempotency-Key` */
  count(message: Message, sender: Sender, incoming: Incoming, key: string | undefined): CountResult<Outgoing>;
  /**
   * Passes a message on to the thread that owns the required data. Called if another step throws `NotHere`.
   * @param body the body, if it was already read
   */
  passOn?(incoming: Incoming, body: Uint8Array | undefined): Promise<Outgoing>;
  /** @param holder of the claimed key, if that key exists */
  refuse(refusal: Refusal, incoming: Incoming, holder: KeyHolder | undefined): Outgoing;
  claimedSender(message: Message, incoming: Incoming): ClaimedSender;
  /** Returns the claimed sender of an unchecked message. @param beginning first bytes of the body, if it was read */
  peek(incoming: Incoming, beginning: Uint8Array | undefined): ClaimedSender;
}

export interface Intake<in Incoming, out Outgoing> {
  /** Responds to a message once it is on disk, or refuses it. @throws other errors, such as `DisconnectError` */
  receive(incoming: Incoming): Outgoing | Promise<Outgoing>;
  /** Records, in the ledger, a message that the transport itself refused. */
  refused(incoming: Incoming, refusal: Refusal): void;
}

interface ResolvedSender {
  readonly holder: KeyHolder;
}

/**
 * Processes packets, reports and requests for instance ids in the same steps on every transport: admit → read → check →
 * resolve → count → respond. Cheap checks come first, so the statuses of refusals have this order: 503, 401 and 403
 * (from headers alone), 413, 400, 404, 403, 429. A refused message changes nothing, and the ledger records it.
 */
export class Pipeline<Incoming, Message, Sender extends ResolvedSender, Outgoing>
  implements Intake<Incoming, Outgoing>
{
  readonly #deps: PipelineDeps;
  readonly #handler: MessageHandler<Incoming, Message, Sender, Outgoing>;

  constructor(deps: PipelineDeps, handler: MessageHandler<Incoming, Message, Sender, Outgoing>) {
    this.#deps = deps;
    this.#handler = handler;
  }

  receive(incoming: Incoming): Outgoing | Promise<Outgoing> {
    let body: Body | Promise<Body>;
    try {
      admit(this.#deps);
      this.#handler.authorize?.(incoming);
      body = this.#handler.read(incoming, this.#deps.bodies);
    } catch (error) {
      return this.#refuse(incoming, error);
    }
    return this.#process(incoming, body);
  }

  refused(incoming: Incoming, refusal: Refusal): void {
    recordRefusal(this.#deps, this.#handler, incoming, refusal, this.#handler.peek(incoming, undefined));
  }

  /** Processes a message. Small bodies pass through no other `async` function, which would add a promise per packet. */
  async #process(incoming: Incoming, arriving: Body | Promise<Body>): Promise<Outgoing> {
    let body: Body;
    try {
      body = arriving instanceof Promise ? await arriving : arriving;
    } catch (error) {
      return this.#refuse(incoming, error);
    }
    const { durable, response, claimed } =
      body instanceof Uint8Array && body.length <= this.#deps.bodies.free
        ? this.#take(incoming, body)
        : await this.#takeSent(incoming, body);
    try {
      await durable;
      return response;
    } catch (error) {
      return this.#refuse(incoming, error, undefined, claimed);
    }
  }

  #takeSent(incoming: Incoming, body: Body): MessageResult<Outgoing> | Promise<MessageResult<Outgoing>> {
    if (body instanceof Uint8Array) return this.#takeLarge(incoming, new SentBody(body, [], body.length));
    try {
      const small = body.unpackWithin(this.#deps.bodies.free);
      if (small === undefined) return this.#takeLarge(incoming, body);
      this.#deps.bodies.release(body.bytes);
      return this.#take(incoming, small);
    } catch (error) {
      this.#deps.bodies.release(body.bytes);
      return { response: this.#refuse(incoming, error, body.beginning()) };
    }
  }

  /** Processes a large body once it has a slot. Checks the rate limit before the body is decompressed or decoded. */
  async #takeLarge(incoming: Incoming, body: SentBody): Promise<MessageResult<Outgoing>> {
    const handler = this.#handler;
    const { bodies } = this.#deps;
    const beginning = body.beginning();
    const claimed = handler.peek(incoming, beginning && cutBeginning(beginning));
    const held = { length: body.bytes.length };
    const release = () => {
      bodies.release(held);
      held.length = 0;
    };
    try {
      const payer = this.#createPayer(incoming, claimed);
      payer.check(body.bytes.length);
      const unpacked = this.#unpackShort(body, payer);
      if (unpacked === undefined) return { ...(await this.#takeLong(incoming, body, payer, release)), claimed };
      payer.pay(body.bytes.length);
      payer.owe(unpacked.length);
      release();
      bodies.hold(unpacked);
      held.length = unpacked.length;
      await this.#waitForSlot(payer, unpacked.length);
      held.length = 0; // `#take` releases the body.
      return this.#take(incoming, unpacked);
    } catch (error) {
      return { response: this.#refuse(incoming, error, undefined, claimed) };
    } finally {
      release();
    }
  }

  /** Decompresses a body that is not long. A body that fails to decompress costs as much as a long body. */
  #unpackShort(body: SentBody, payer: Payer): Uint8Array | undefined {
    try {
      return this.#handler.long === undefined ? body.unpack() : body.unpackWithin(longBody);
    } catch (error) {
      payer.owe(longBody);
      throw error;
    }
  }

  /** Decodes a long body in another thread, and counts it in small steps. */
  #takeLong(incoming: Incoming, body: SentBody, payer: Payer, release: () => void): Promise<CountResult<Outgoing>> {
    const deps = this.#deps;
    const handler = this.#handler;
    const long = handler.long!;
    return long.schedule(payer.name, async () => {
      payer.pay(body.bytes.length); // Fails if other bodies of this sender have left a debt.
      const key = checkIdempotencyKey(handler.idempotencyKey(incoming));
      const { message, entries } = await long.decode(body, incoming, (bytes) => payer.owe(bytes));
      release();
      payer.owe(0, entries);
      const sender = handler.resolve(message, incoming);
      await long.prepare(message, sender, incoming, () => this.#waitForSlot(payer, longBody));
      admitApplication(deps, sender.holder);
      deps.keys.recordUse(sender.holder);
      return handler.count(message, sender, incoming, key);
    });
  }

  #createPayer(incoming: Incoming, { appKey }: ClaimedSender): Payer {
    const holder = appKey === undefined ? undefined : this.#deps.keys.findKey(appKey);
    return new Payer(this.#deps, holder, this.#handler.address(incoming));
  }

  /** Waits until other messages have been served. @param length number of bytes that the next step processes */
  async #waitForSlot({ name }: Payer, length: number): Promise<void> {
    const slot = this.#deps.bodies.waitForSlot({ length }, name);
    if (slot === undefined) return;
    await slot;
    admit(this.#deps);
  }

  /** Checks, resolves and counts a message. Does not hold its body while the message waits for the disk. */
  #take(incoming: Incoming, body: Uint8Array): MessageResult<Outgoing> {
    const deps = this.#deps;
    const handler = this.#handler;
    let message: Message | undefined;
    try {
      const key = checkIdempotencyKey(handler.idempotencyKey(incoming));
      message = handler.check(body, incoming);
      const sender = handler.resolve(message, incoming);
      const now = admitApplication(deps, sender.holder); // The queue can have filled while the body arrived.
      chargeSmall(deps, sender.holder, body.length, now);
      deps.keys.recordUse(sender.holder);
      const { durable, response } = handler.count(message, sender, incoming, key);
      return { durable, response, claimed: handler.claimedSender(message, incoming) };
    } catch (error) {
      const claimed = message && handler.claimedSender(message, incoming);
      return { response: this.#refuse(incoming, error, body, claimed) };
    } finally {
      deps.bodies.release(body);
    }
  }

  #refuse(
    incoming: Incoming,
    error: unknown,
    body?: Uint8Array,
    claimed?: ClaimedSender,
  ): Outgoing | Promise<Outgoing> {
    if (error instanceof NotHere && this.#handler.passOn !== undefined) return this.#handler.passOn(incoming, body);
    if (!(error instanceof Refusal)) throw error;
    const sender = claimed ?? this.#handler.peek(incoming, body && cutBeginning(body));
    const holder = recordRefusal(this.#deps, this.#handler, incoming, error, sender);
    return this.#handler.refuse(error, incoming, holder);
  }
}

/** Records a refusal for the application that a message claims. @returns the holder of the claimed key, if it exists */
function recordRefusal<Incoming>(
  { keys, ledger }: Pick<PipelineDeps, 'keys' | 'ledger'>,
  handler: Pick<MessageHandler<Incoming, never, ResolvedSender, never>, 'route' | 'transport' | 'userAgent' | 'origin'>,
  incoming: Incoming,
  refusal: Refusal,
  { appKey, environment, instanceName }: ClaimedSender,
): KeyHolder | undefined {
  const holder = appKey === undefined ? undefined : keys.findKey(appKey);
  // Under load every sender gets 503, thousands of times a second, so these refusals are only counted.
  if (holder === undefined && refusal.status === 503) {
    ledger.refusedUnread(refusal);
    return undefined;
  }
  const { route, transport } = handler;
  const source = { route, transport, userAgent: handler.userAgent(incoming), instance: instanceName };
  const origin = handler.origin?.(incoming);
  if (holder === undefined) ledger.refusedUnattributed(refusal, source, { appKey, environment, origin });
  else {
    ledger.refused(refusal, source, { holder, environment, origin });
    keys.recordRefusal(holder, refusal.code);
  }
  return holder;
}

/** Thrown by a step of the pipeline if only another thread can process the message. */
export class NotHere extends Error {
  override readonly name = 'NotHere';
}
