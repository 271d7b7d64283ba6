/** The result of checking a file or a journal of a data directory. */
export interface Finding {
  readonly file: string;
  readonly isSound: boolean;
  readonly words: string;
}
