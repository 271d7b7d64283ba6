/** The code of `JournalWriteError`. */
export const journalFailed = 'journal_failed';

/** No spare segment is ready, so the frame was not written. A later attempt can succeed. */
export class JournalFull extends Error {
  override readonly name = 'JournalFull';

  constructor(directory: string) {
    super(`The journal ${directory} has no spare segment. Free disk space, or wait for the next segment`);
  }
}

/** A frame does not fit into a segment. */
export class FrameTooLarge extends Error {
  override readonly name = 'FrameTooLarge';

  constructor(bytes: number, limit: number) {
    super(`A frame of ${bytes} bytes does not fit into a segment of the journal, which holds ${limit}`);
  }
}

/** The disk failed. The writer accepts no more frames, because a later flush could succeed without the lost data. */
export class JournalWriteError extends Error {
  override readonly name = 'JournalWriteError';
  readonly code = journalFailed;
  /** `refused`: the frame is never counted. `unknown`: the next startup counts the frame if the frame is on disk. */
  readonly frameState: 'refused' | 'unknown';

  constructor(file: string, offset: number, frameState: 'refused' | 'unknown', cause: unknown) {
    const { message } = cause as Error;
    const what = frameState === 'refused' ? 'The frame was refused' : 'The next start can still count the frame';
    super(`Cannot write journal segment ${file} at offset ${offset}: ${message}. ${what}`, { cause });
    this.frameState = frameState;
  }
}

/** A segment was changed after it was written, or frames are missing. */
export class JournalDamageError extends Error {
  override readonly name = 'JournalDamageError';

  /** @param what a journal, or a place in a journal @param remedy a sentence without its full stop */
  constructor(what: string, reason: string, remedy: string) {
    super(`Cannot read ${what}: ${reason}. ${remedy}`);
  }
}
