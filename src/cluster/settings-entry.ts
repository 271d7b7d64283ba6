import type { LogAppender } from './log.ts';
import type { Replica } from './replica.ts';
import { type ReplicaSettings, sameSettings } from './settings.ts';

/**
 * What decides the content of replicas must be the same for all: a node that starts with other settings than the log says,
 * says its own, once.
 */
export class SettingsEntry {
  readonly #replica: Pick<Replica, 'settings'>;
  readonly #appender: Pick<LogAppender, 'append'>;
  readonly #settings: ReplicaSettings;
  #isDone = false;

  constructor(
    replica: Pick<Replica, 'settings'>,
    appender: Pick<LogAppender, 'append'>,
    settings: ReplicaSettings,
  ) {
    this.#replica = replica;
    this.#appender = appender;
    this.#settings = settings;
  }

  /**
   * To be called before a delta is shipped: the names in it are folded by the limits that the log says before it.
   * @param isCaughtUp whether the replica has all of the log
   * @throws {EngineError}
   */
  async tell(isCaughtUp: boolean): Promise<void> {
    if (this.#isDone) return;
    const known = this.#replica.settings;
    const isOther = known === undefined || !sameSettings(known, this.#settings);
    if (isOther) await this.#appender.append('settings', this.#settings);
    this.#isDone = isOther || isCaughtUp;
  }
}
