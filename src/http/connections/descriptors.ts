/** A connection to this process, from any address. */
export interface Peer {
  readonly descriptor: number;
  readonly address: string;
  /** Whether any data was sent to it. */
  readonly answered: boolean;
  /** Time since the last data was sent to it, or since it was opened, ms. */
  readonly quietMs: number;
}

/** The open files of this process, including its connections. */
export interface Descriptors {
  /** Maximum number of open files of the process. */
  readonly limit: number;
  /** The descriptor of the next file to be opened: at least this many are open. Costs two system calls. */
  next(): number;
  /**
   * Every connection to one of these ports, and the number of other open files. Sockets about to be closed are left out. Costs
   * a few microseconds per file.
   */
  peersAt(ports: ReadonlySet<number>): { readonly peers: readonly Peer[]; readonly others: number };
  /** Shuts a connection down: its owner reads the end of file and closes it. */
  shutDown(descriptor: number): void;
}
