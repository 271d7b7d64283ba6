import { headerBlock, type Journal, type JournalPosition, readSegments } from './segment.ts';

/** What the journal holds that the store does not. */
export interface JournalStatus {
  readonly frames: number;
  /** Bytes of these frames, with what is unused at the ends of full segments. */
  readonly bytes: number;
  /** All segments that were not yet recycled. */
  readonly segments: number;
}

/**
 * @param folded the reader's position; `undefined` if it has read no segment
 * @param written the writer's position
 */
export function journalStatus(
  journal: Journal,
  folded: JournalPosition | undefined,
  written: JournalPosition,
): JournalStatus {
  const segments = readSegments(journal);
  const { generation, offset, sequence } = folded ?? {
    generation: segments[0]?.generation ?? written.generation,
    offset: headerBlock,
    sequence: (segments[0]?.first ?? written.sequence + 1) - 1,
  };
  const filled = segments
    .filter((segment) => segment.generation >= generation && segment.generation < written.generation)
    .reduce((sum, { size }) => sum + size - headerBlock, 0);
  return {
    frames: written.sequence - sequence,
    bytes: filled + written.offset - offset,
    segments: segments.length,
  };
}
