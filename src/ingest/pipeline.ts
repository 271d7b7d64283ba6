import type { KeyHolder } from '../accounts/key-holder.ts';
import type { LargeBodies } from '../admission/large-bodies.ts';
import { ApiError } from '../errors.ts';
import type { Ledger, LedgerSource } from '../ledger/ledger.ts';
import { type AdmissionDeps, admit, admitOf, chargeLarge, chargeSmall } from './admission.ts';
import type { KeyFinder } from './deps.ts';
import { checkIdempotencyKey } from './message-identity.ts';
import { beginningOf } from './peek.ts';

/** What the pipeline needs of the rest of the service. */
export interface PipelineDeps extends AdmissionDeps {
  readonly keys: KeyFinder;
  readonly ledger: Ledger;
}

/** Who a message says it is from. This is not checked: it tells the ledger which application a refusal belongs to. */
export interface ClaimedSender {
  readonly appKey?: string | undefined;
  readonly environment?: string | undefined;
  readonly instanceName?: string | undefined;
}

/** A message that was added to a batch. */
export interface Counted<Answer> {
  /** Resolves when the batch is on disk. @throws {ApiError} when nothing of it was kept */
  readonly durable: Promise<unknown>;
  /** What the sender is answered then. */
  readonly answer: Answer;
}

/** What the ledger says of the sender of an `Incoming`: a request, or a call. */
export interface LedgerView<Incoming> {
  readonly route: LedgerSource['route'];
  readonly transport: LedgerSource['transport'];
  userAgent(incoming: Incoming): string | undefined;
  origin?(incoming: Incoming): string | undefined;
}

/**
 * The steps in which one kind of message by one transport differs from the others. Each refuses with an `ApiError`. `Incoming`
 * is the request or call that brings the message, `Sender` the application that it was resolved to.
 */
export interface MessageHandler<Incoming, Message, Sender extends Held, Answer> extends LedgerView<Incoming> {
  /** Refuses what the head alone rules out, before the body is read: 401, 403. */
  authorize?(incoming: Incoming): void;
  /** The body, inflated. Its memory is taken from `budget`; the pipeline gives it back. */
  read(incoming: Incoming, budget: LargeBodies): Uint8Array | Promise<Uint8Array>;
  /** The `Idempotency-Key` as it was sent. */
  idempotencyKey(incoming: Incoming): string | undefined;
  /** What the message says. @throws {ApiError} of status 400 */
  check(body: Uint8Array, incoming: Incoming): Message;
  /** Finds the application. @throws {ApiError} of status 404 or 403 */
  resolve(message: Message, incoming: Incoming): Sender;
  /**
   * Adds the whole message to a batch, before it returns.
   * @param key the `Idempotency-Key`, checked
   */
  count(message: Message, sender: Sender, incoming: Incoming, key: string | undefined): Counted<Answer>;
  /** @param holder of the key that the message claims, if there is such a key */
  refuse(refusal: ApiError, incoming: Incoming, holder: KeyHolder | undefined): Answer;
  claimedSender(message: Message, incoming: Incoming): ClaimedSender;
  /** The claimed sender of a message that was not checked. @param beginning of the body, when that was read */
  peek(incoming: Incoming, beginning: Uint8Array | undefined): ClaimedSender;
}

/** Something that belongs to the application of a key. */
interface Held {
  readonly holder: KeyHolder;
}

/**
 * The one way in. Packets, reports and mint requests take the same steps, whatever transport brings them:
 * admit → read → check → resolve → count → answer. The order of the refusals is 503, (401 and 403 by the head alone,) 413, 400,
 * 404, 403, 429, so that each costs as little as it can. A refused message changes nothing, and the ledger has a line of it.
 */
export class Pipeline<Incoming, Message, Sender extends Held, Answer> {
  readonly #deps: PipelineDeps;
  readonly #handler: MessageHandler<Incoming, Message, Sender, Answer>;

  constructor(deps: PipelineDeps, handler: MessageHandler<Incoming, Message, Sender, Answer>) {
    this.#deps = deps;
    this.#handler = handler;
  }

  /**
   * Takes one message in: answers when it is on disk, or refuses it. The steps of a small body are not `async` functions, since
   * each would add a promise to every packet.
   * @throws errors other than `ApiError`, such as `ClientGone`
   */
  receive(incoming: Incoming): Answer | Promise<Answer> {
    let body: Uint8Array | Promise<Uint8Array>;
    try {
      admit(this.#deps);
      this.#handler.authorize?.(incoming);
      body = this.#handler.read(incoming, this.#deps.bodies);
    } catch (error) {
      return this.#refuse(incoming, error);
    }
    if (!(body instanceof Promise)) return this.#process(incoming, body);
    return body.then(
      (whole) => this.#process(incoming, whole),
      (error) => this.#refuse(incoming, error),
    );
  }

  #process(incoming: Incoming, body: Uint8Array): Answer | Promise<Answer> {
    return body.length <= this.#deps.bodies.free
      ? this.#take(incoming, body)
      : this.#takeInTurn(incoming, body);
  }

  /** A large body is charged to its sender before it is decoded, and waits for its turn. */
  async #takeInTurn(incoming: Incoming, body: Uint8Array): Promise<Answer> {
    const { bodies } = this.#deps;
    try {
      const turn = bodies.turn(body, () => {
        const { appKey } = this.#handler.peek(incoming, beginningOf(body));
        return chargeLarge(this.#deps, appKey, body.length);
      });
      if (turn !== undefined) {
        await turn;
        admit(this.#deps);
      }
    } catch (error) {
      bodies.release(body);
      return this.#refuse(incoming, error, body);
    }
    return this.#take(incoming, body);
  }

  /** Checks, resolves and counts a message. Nothing of its body is held while it waits for the disk. */
  #take(incoming: Incoming, body: Uint8Array): Answer | Promise<Answer> {
    const deps = this.#deps;
    const handler = this.#handler;
    let message: Message | undefined;
    let counted: Counted<Answer>;
    try {
      const key = checkIdempotencyKey(handler.idempotencyKey(incoming));
      message = handler.check(body, incoming);
      const sender = handler.resolve(message, incoming);
      admitOf(deps, sender.holder); // Others may have filled the queue while this body arrived.
      chargeSmall(deps, sender.holder, body.length);
      deps.keys.markUsed(sender.holder);
      counted = handler.count(message, sender, incoming, key);
    } catch (error) {
      return this.#refuse(incoming, error, body, message && handler.claimedSender(message, incoming));
    } finally {
      deps.bodies.release(body);
    }
    const { durable, answer } = counted;
    const claimed = handler.claimedSender(message, incoming);
    return durable.then(
      () => answer,
      (error) => this.#refuse(incoming, error, undefined, claimed),
    );
  }

  #refuse(incoming: Incoming, error: unknown, body?: Uint8Array, claimed?: ClaimedSender): Answer {
    if (!(error instanceof ApiError)) throw error;
    const sender = claimed ?? this.#handler.peek(incoming, body && beginningOf(body));
    const holder = recordRefusal(this.#deps, this.#handler, incoming, error, sender);
    return this.#handler.refuse(error, incoming, holder);
  }
}

/**
 * Puts a refusal down to the application that a message claims to be from.
 * @returns the holder of the key that it claims, if there is such a key
 */
export function recordRefusal<Incoming>(
  { keys, ledger }: Pick<PipelineDeps, 'keys' | 'ledger'>,
  handler: LedgerView<Incoming>,
  incoming: Incoming,
  refusal: ApiError,
  { appKey, environment, instanceName }: ClaimedSender,
): KeyHolder | undefined {
  const holder = appKey === undefined ? undefined : keys.findKey(appKey);
  // Under load everyone is answered 503, thousands of times a second.
  if (holder === undefined && refusal.status === 503) {
    ledger.refusedUnread(refusal);
    return undefined;
  }
  const { route, transport } = handler;
  const source = { route, transport, userAgent: handler.userAgent(incoming), instance: instanceName };
  const origin = handler.origin?.(incoming);
  if (holder === undefined) ledger.refusedStranger(refusal, source, { appKey, environment, origin });
  else ledger.refused(refusal, source, { holder, environment, origin });
  return holder;
}
