/** A connection to this process, before it is known which of its addresses are trusted proxies. */
export interface Peer {
  readonly descriptor: number;
  readonly address: string;
  /** Whether anything was ever sent to it. */
  readonly answered: boolean;
  /** Time since the last byte was sent to it, or since it was opened, ms. */
  readonly quietMs: number;
}

/** The open files of this process, and the connections among them. */
export interface Descriptors {
  /** Open files that the process may have. */
  readonly limit: number;
  /** The number of the next file to be opened: no fewer than this are open. It costs two system calls. */
  next(): number;
  /**
   * Every connection to one of these ports, and the number of other open files, without sockets that are about to be closed. It
   * costs some microseconds a file.
   */
  peersAt(ports: ReadonlySet<number>): { readonly peers: readonly Peer[]; readonly others: number };
  /** Ends a connection: its owner reads the end of it and closes it. */
  shutDown(descriptor: number): void;
}
