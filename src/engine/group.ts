import type { Reader } from './engine.ts';
import { Layer } from './layer.ts';

/** Changes that share a commit. */
export class Group {
  /** What they write. */
  readonly layer: Layer;
  #waiting = 0;
  readonly #settled: Promise<void>;
  #keep: () => void = () => {};
  #refuse: (error: Error) => void = () => {};

  /** @param below what the first of them is made to */
  constructor(below: Reader) {
    this.layer = new Layer(below);
    this.#settled = new Promise((resolve, reject) => {
      this.#keep = resolve;
      this.#refuse = reject;
    });
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** Resolves when all of it is on disk. @throws {ApiError} as it was refused with */
  wait(): Promise<void> {
    this.#waiting += 1;
    return this.#settled;
  }

  kept(): void {
    this.#keep();
  }

  refused(error: Error): void {
    if (this.#waiting > 0) this.#refuse(error);
  }
}
