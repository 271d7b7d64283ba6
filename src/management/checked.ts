import type { AccountDraft } from '../accounts/account-draft.ts';
import type { Directory } from '../accounts/directory.ts';

/** The same directory, whose changes are made only when `check` does not throw: it sees exactly what they are made to. */
export function checked(directory: Directory, check: (draft: AccountDraft) => void): Directory {
  return {
    ...directory,
    change: (plan) =>
      directory.change((draft) => {
        check(draft);
        return plan(draft);
      }),
  };
}
