import type { KeyHolder } from '../../accounts/key-index.ts';
import type { Environment } from '../../storage/lmdb/records.ts';
import type { AttributedSource } from '../ledger/ledger.ts';

/** What a packet was resolved to. */
export interface PacketSender extends AttributedSource {
  readonly holder: KeyHolder;
  readonly environment: Environment;
  readonly origin: string | undefined;
}
