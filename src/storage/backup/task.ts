/** What the backup thread is started to do. */
export interface Tasks {
  /** Finds when the latest backup was made. */
  readonly latest: object;
  /** Makes a backup, and removes the oldest beyond those that are kept. `at` is the time that it is named after, Unix ms. */
  readonly backup: { readonly at: number };
}

export type Task<Name extends keyof Tasks = keyof Tasks> = {
  [Each in Name]: { readonly name: Each } & Tasks[Each];
}[Name];

/** What comes of it. */
export interface Made {
  /** Unix ms; `undefined` without backups. */
  readonly latest: number | undefined;
  readonly backup: {
    readonly name: string;
    readonly bytes: number;
    /** How many older ones. */
    readonly removed: number;
    /** Why one of them could not be, for people; empty when none is left over. */
    readonly unremoved: string;
  };
}

/** Where backups are kept, and how many. */
export interface Keeping {
  readonly data: string;
  /** A directory, or `s3://BUCKET/PREFIX`. */
  readonly to: string;
  readonly keep: number;
  readonly s3: S3Settings;
  /** The path of the file with the key for MACs. It is read for each backup, so a new key needs no restart. */
  readonly keyFile: string | undefined;
}

export interface S3Settings {
  readonly endpoint: string | undefined;
  readonly region: string;
  /** The path of a file with the credentials; without it they are in the environment. */
  readonly credentials: string | undefined;
}
