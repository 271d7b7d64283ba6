import { serveCalls, threadStart } from '../../runtime/thread-calls.ts';
import { type JournalPlace, openJournal } from '../journal/place.ts';

import { FrameAppender } from './frame-appender.ts';
import { FrameSlot, JournalState } from './journal-memory.ts';

export interface JournalStart extends JournalPlace {
  /** The memory of each thread that appends. */
  readonly slots: readonly SharedArrayBuffer[];
  readonly state: SharedArrayBuffer;
}

const { channel, slots: memory, state, ...place } = threadStart<JournalStart>();
const slots = memory.map((each) => new FrameSlot(each));
const appender = new FrameAppender(openJournal(place), slots, new JournalState(state));

const actions = { close: () => appender.close() };
export type JournalActions = typeof actions;

serveCalls(channel, actions, (observe) => appender.appendWaiting(observe));
