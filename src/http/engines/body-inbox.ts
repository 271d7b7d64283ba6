import { type ByteBudget, DisconnectError } from '../types.ts';
import { Charge, tooLarge } from './limits.ts';

interface Tap {
  pause(): void;
  resume(): void;
}

interface Reader {
  readonly limit: number;
  readonly charge: Charge;
  resolve(body: Uint8Array): void;
  reject(error: Error): void;
}

/**
 * Collects the body of a request for an HTTP engine that pushes chunks. Drops a body that is too large, and pauses the
 * sender until the handler reads the body.
 */
export class BodyInbox {
  readonly #tap: Tap;
  #chunks: Buffer[] = [];
  #length = 0;
  #state: 'arriving' | 'whole' | 'refused' | 'gone' = 'arriving';
  #complete = false;
  #paused = false;
  #reader: Reader | undefined;
  /** Refusal of the body, if the handler has not read the body yet. */
  #refusal: Error | undefined;

  constructor(tap: Tap) {
    this.#tap = tap;
  }

  get refused(): boolean {
    return this.#state === 'refused';
  }

  get complete(): boolean {
    return this.#complete;
  }

  get paused(): boolean {
    return this.#paused;
  }

  /** @param chunk copied here, because the HTTP engine can reuse the memory */
  push(chunk: ArrayBufferView | ArrayBuffer, last: boolean): void {
    this.#complete ||= last;
    if (this.#state !== 'arriving') return;
    this.#length += chunk.byteLength;
    if (chunk.byteLength > 0) this.#chunks.push(copyChunk(chunk));
    if (last) this.#state = 'whole';
    if (this.#reader !== undefined) this.#settle();
    else if (!last && !this.#paused) this.#pause();
  }

  /**
   * @param declared the `content-length`, if sent
   * @throws {Refusal} `body_too_large`, `body_too_slow`, or the budget's error
   * @throws {DisconnectError} if the client disconnects first
   */
  read(limit: number, declared: string | undefined, budget?: ByteBudget): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      this.#reader = { limit, charge: new Charge(budget), resolve, reject };
      if (this.#refusal !== undefined) reject(this.#refusal);
      else if (declared !== undefined && !(Number(declared) <= limit)) this.#refuse(tooLarge(limit));
      else this.#settle();
      this.flow();
    });
  }

  flow(): void {
    if (!this.#paused || this.#state === 'gone') return;
    this.#paused = false;
    this.#tap.resume();
  }

  /** @returns true if the body was still arriving */
  giveUp(refusal: Error): boolean {
    if (this.#state !== 'arriving') return false;
    this.#refuse(refusal);
    return true;
  }

  /** Called when the client has disconnected. */
  abort(): void {
    if (this.#state === 'arriving') this.#chunks = [];
    this.#state = 'gone';
    this.#reader?.charge.giveBack();
    this.#reader?.reject(new DisconnectError());
  }

  #pause(): void {
    this.#paused = true;
    this.#tap.pause();
  }

  #settle(): void {
    const { limit, resolve, reject } = this.#reader!;
    if (this.#state === 'gone') reject(new DisconnectError());
    else if (this.#length > limit) this.#refuse(tooLarge(limit));
    else if (this.#fits() && this.#state === 'whole') resolve(this.#take());
  }

  /** Charges the budget for the received bytes. @returns false if the budget is used up */
  #fits(): boolean {
    try {
      this.#reader!.charge.growTo(this.#length);
      return true;
    } catch (error) {
      this.#refuse(error as Error);
      return false;
    }
  }

  #refuse(refusal: Error): void {
    this.#state = 'refused';
    this.#chunks = [];
    this.#refusal = refusal;
    this.#reader?.charge.giveBack();
    this.#reader?.reject(refusal);
  }

  #take(): Uint8Array {
    const chunks = this.#chunks;
    this.#chunks = [];
    this.#reader!.charge.handOver();
    return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, this.#length);
  }
}

function copyChunk(chunk: ArrayBufferView | ArrayBuffer): Buffer {
  if (!ArrayBuffer.isView(chunk)) return Buffer.from(new Uint8Array(chunk));
  return Buffer.from(new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength));
}
