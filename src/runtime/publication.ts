import { MessageChannel, type MessagePort, receiveMessageOnPort } from 'node:worker_threads';

interface Publication {
  readonly from: PublicationEnd;
  readonly to: PublicationEnd;
}

export interface PublicationEnd {
  readonly port: MessagePort;
  /** Number of messages published, in shared memory. */
  readonly version: Int32Array;
}

/** Creates a channel from one thread to another. To pass an end to a thread, add its port to the transfer list. */
export function publication(): Publication {
  const { port1, port2 } = new MessageChannel();
  const version = new Int32Array(new SharedArrayBuffer(4));
  return { from: { port: port1, version }, to: { port: port2, version } };
}

export class Publisher<Message> {
  readonly #end: PublicationEnd;

  constructor(end: PublicationEnd) {
    this.#end = end;
  }

  /** Publishes a clone of the message, which the next `catchUp` applies. Shared memory in the message is not copied. */
  publish(message: Message): void {
    const { port, version } = this.#end;
    port.postMessage(message);
    Atomics.add(version, 0, 1);
    Atomics.notify(version, 0);
  }

  close(): void {
    this.#end.port.close();
  }
}

/**
 * Applies the messages of a publisher in order, in `catchUp` or in the event loop. The port has no message listener,
 * because the event loop would take several messages together, and `catchUp` could miss them.
 */
export class Subscriber<Message> {
  readonly #end: PublicationEnd;
  readonly #apply: (message: Message) => void;
  #applied = 0;
  #closed = false;

  constructor(end: PublicationEnd, apply: (message: Message) => void) {
    this.#end = end;
    this.#apply = apply;
    void this.#follow();
  }

  /** Applies all published messages. Without new messages, a call costs one read of shared memory. */
  catchUp(): void {
    if (Atomics.load(this.#end.version, 0) !== this.#applied) this.#take();
  }

  /** Closes the channel. Messages that were not applied are dropped. */
  close(): void {
    this.#closed = true;
    Atomics.notify(this.#end.version, 0);
    this.#end.port.close();
  }

  #take(): void {
    const { port, version } = this.#end;
    while (!this.#closed && Atomics.load(version, 0) !== this.#applied) {
      const received = receiveMessageOnPort(port);
      if (received === undefined) {
        this.close(); // The publisher has closed the channel.
        return;
      }
      this.#applied = (this.#applied + 1) | 0; // Overflows like the counter in shared memory.
      this.#apply(received.message as Message);
    }
  }

  async #follow(): Promise<void> {
    while (!this.#closed) {
      this.catchUp();
      const { async, value } = Atomics.waitAsync(this.#end.version, 0, this.#applied);
      if (async) await value;
    }
  }
}
