import { Refusal } from '../errors.ts';
import type { ByteBudget } from '../http/types.ts';

/** Bodies up to this size are worked off where they arrive and are in no budget: most packets are so small. */
const smallBody = 4096;

/** Bytes of large bodies that one turn of the event loop works off: some milliseconds of work. */
const bytesPerTurn = 32 * 1024;

/** What part of the budget the bodies of one sender may have that wait for their turn. */
const ownPart = 1 / 2;

interface Waiting {
  readonly bytes: number;
  readonly go: () => void;
}

interface Sender {
  bytes: number;
  readonly bodies: Waiting[];
}

/**
 * Bodies that are large enough to keep others waiting. Together they have a budget of memory, from their first byte until
 * they are worked off; and each turn of the event loop works off some of them only, those of each sender in turn, so that
 * small packets and other senders go on in between.
 */
export class LargeBodies implements ByteBudget {
  readonly free = smallBody;
  /** Bytes that are held. */
  held = 0;
  private readonly most: number;
  private readonly nextTurn: (callback: () => void) => unknown;
  /** Those whose bodies wait; the first is next. */
  private readonly senders = new Map<string, Sender>();
  /** Bytes that this turn works off. */
  private begun = 0;

  /** @param most bytes; @param nextTurn calls back in the next turn of the event loop */
  constructor(most: number, nextTurn: (callback: () => void) => unknown = setImmediate) {
    this.most = most;
    this.nextTurn = nextTurn;
  }

  take(bytes: number): void {
    if (this.held + bytes > this.most) throw tooMany();
    this.held += bytes;
  }

  give(bytes: number): void {
    this.held -= bytes;
  }

  /** Takes a whole body into the budget that came by another way. @throws {Refusal} `backpressure` */
  hold({ length }: Uint8Array): void {
    if (length > this.free) this.take(length);
  }

  /** A body is worked off: its memory is free again. */
  release({ length }: Uint8Array): void {
    if (length > this.free) this.give(length);
  }

  /**
   * Waits until it is a body's turn; at once, without a promise, when nothing speaks against it.
   * @param sender makes out who sent it; only whose turn it is depends on that
   * @throws {Refusal} `backpressure` when too much of the sender waits already
   */
  turn({ length }: Uint8Array, sender: () => string | undefined): Promise<void> | undefined {
    if (length <= this.free) return undefined;
    if (this.senders.size === 0 && this.begun < bytesPerTurn) {
      this.begin(length);
      return undefined;
    }
    return this.wait(sender() ?? '', length);
  }

  private wait(name: string, bytes: number): Promise<void> {
    const sender = this.senders.get(name) ?? { bytes: 0, bodies: [] };
    if (sender.bytes > 0 && sender.bytes + bytes > ownPart * this.most) throw tooMany();
    sender.bytes += bytes;
    this.senders.set(name, sender);
    return new Promise((go) => {
      sender.bodies.push({ bytes, go });
    });
  }

  private begin(bytes: number): void {
    if (this.begun === 0) this.nextTurn(() => this.goOn());
    this.begun += bytes;
  }

  private goOn(): void {
    this.begun = 0;
    for (const [name, sender] of this.senders) {
      if (this.begun >= bytesPerTurn) return;
      const { bytes, go } = sender.bodies.shift()!;
      sender.bytes -= bytes;
      this.senders.delete(name);
      if (sender.bodies.length > 0) this.senders.set(name, sender); // It comes last, and is met again if there is time.
      this.begin(bytes);
      go();
    }
  }
}

function tooMany(): Refusal {
  return new Refusal('backpressure', 'Too many large bodies are under way', 1);
}
