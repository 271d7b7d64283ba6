/** What was found in a file or a journal of a data directory. */
export interface Finding {
  readonly file: string;
  readonly isSound: boolean;
  readonly words: string;
}
