/** What a page tells flagmeter about its visitor. Only `key` and `environment` are required. */
export interface Options {
  /** The application's Frontend key, which is no secret. */
  readonly key: string;
  /** Name of the environment: `Production`. */
  readonly environment: string;
  /** Address of the metrics host. The default is the host that this script was loaded from. */
  readonly url?: string;
  /** An instance id that your backend has minted for the visitor. */
  readonly instanceId?: string;
  /**
   * The visitor, by an identity of yours: for applications that accept client-generated identities. A number or boolean is read as
   * its text, and `null` as none.
   */
  readonly identity?: string | number | boolean | null;
  /** Seconds between two packets; 10 without. */
  readonly seconds?: number;
}

/** Counts what happens on a page, and sends it now and then. None of these throws. */
export interface Sender {
  /** The page asked which variant of a feature to show. */
  checked(feature: string, variant: string): void;
  /** The visitor used the feature. */
  used(feature: string, variant: string): void;
  /** The visitor saw the feature. */
  viewed(feature: string, variant: string): void;
  /** Adds to a metric that is declared as a counter. */
  add(metric: string, value?: number): void;
  /** Sets a metric that is declared as a gauge. */
  set(metric: string, value: number): void;
  /**
   * Sends what was counted so far. Resolves when all of it is answered, or when the server cannot take it now and it waits for
   * the next attempt. It never rejects.
   */
  flush(): Promise<void>;
}

/** Makes a sender. One a page is enough. */
export declare function flagmeter(options: Options): Sender;
