/** The code of `JournalFailed`. */
export const journalFailed = 'journal_failed';

/** No spare segment is ready. The frame was not written; the next attempt may succeed. */
export class JournalFull extends Error {
  override readonly name = 'JournalFull';

  constructor(directory: string) {
    super(`The journal ${directory} has no spare segment. Free disk space, or wait for the next one`);
  }
}

/** A frame does not fit into a segment. */
export class FrameTooLarge extends Error {
  override readonly name = 'FrameTooLarge';

  constructor(bytes: number, limit: number) {
    super(`A frame of ${bytes} bytes does not fit into a segment of the journal, which holds ${limit}`);
  }
}

/** The disk failed. The writer accepts no more frames: after a failed flush, a later success proves nothing. */
export class JournalFailed extends Error {
  override readonly name = 'JournalFailed';
  readonly code = journalFailed;
  /** `refused`: no replay will see the frame. `unknown`: a replay may see it. */
  readonly outcome: 'refused' | 'unknown';

  constructor(file: string, offset: number, outcome: 'refused' | 'unknown', cause: unknown) {
    const { message } = cause as Error;
    const what = outcome === 'refused' ? 'The frame was refused' : 'Whether it holds the frame is unknown';
    super(`Cannot write journal segment ${file} at offset ${offset}: ${message}. ${what}`, { cause });
    this.outcome = outcome;
  }
}

/** A segment is not what was written, or frames are missing. */
export class JournalDamaged extends Error {
  override readonly name = 'JournalDamaged';
  readonly file: string;
  readonly offset: number;

  /** @param remedy a sentence without its full stop */
  constructor(file: string, offset: number, reason: string, remedy: string) {
    super(`Cannot read journal segment ${file} at offset ${offset}: ${reason}. ${remedy}`);
    this.file = file;
    this.offset = offset;
  }
}
