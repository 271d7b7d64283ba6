import type { KeyType } from '../application-settings/key-types.ts';

/** The values in the lines. */
export interface Subject {
  /** Public URL of the metrics host. */
  readonly metricsUrl: string;
  readonly environment: string;
  readonly key: string;
  readonly keyType: KeyType;
  readonly allowedOrigins: readonly string[];
}

/** A way to send, with the lines that a reader copies. */
export interface Target {
  readonly id: string;
  readonly label: string;
  /** Types of keys that it can use, the usual one first. */
  readonly keyTypes: readonly KeyType[];
  readonly lines: (subject: Subject) => Lines;
}

/** The lines of a target, with the real URL, environment and key. */
export interface Lines {
  /** What they do. */
  readonly intro: string;
  readonly blocks: readonly Block[];
}

export interface Block {
  /** "sender for curl" */
  readonly name: string;
  /** Where to put it. */
  readonly how: string;
  readonly code: string;
}
