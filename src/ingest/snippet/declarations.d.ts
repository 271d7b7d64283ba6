/** Options of the sender. Only `key` and `environment` are required. */
export interface Options {
  /** The application's Frontend key, which is not secret. */
  readonly key: string;
  /** Name of the environment, for example `Production`. */
  readonly environment: string;
  /** URL of the metrics host (default: the host of this script). */
  readonly url?: string;
  /** Instance id that your backend has minted for the visitor. */
  readonly instanceId?: string;
  /**
   * Your identity for the visitor, for applications that accept client-generated identities. A number or boolean is
   * converted to text; `null` means no identity.
   */
  readonly identity?: string | number | boolean | null;
  /** Seconds between packets (default 10). */
  readonly seconds?: number;
}

/** Counts events on a page and sends them at intervals. Its functions never throw. */
export interface Sender {
  /** Counts an evaluation, in which the page requested the variant of a feature. */
  checked(feature: string, variant: string): void;
  /** Counts a use of the feature by the visitor. */
  used(feature: string, variant: string): void;
  /** Counts a view of the feature by the visitor. */
  viewed(feature: string, variant: string): void;
  /** Adds to a counter metric. */
  add(metric: string, value?: number): void;
  /** Sets a gauge metric. */
  set(metric: string, value: number): void;
  /**
   * Sends the counts. Resolves when the server has accepted or refused all counts, or when counts wait for a retry.
   * Never rejects.
   */
  flush(): Promise<void>;
}

/** Creates a sender. One sender per page is enough. */
export declare function flagmeter(options: Options): Sender;
