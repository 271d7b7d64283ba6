import { ledgerRefusals, type Refusal } from '../../../contract/ledger-refusals.ts';
import { ledgerNotes, type Note } from '../../../contract/notes.ts';

const reasons = new Map<string, Note | Refusal>(Object.entries({ ...ledgerRefusals, ...ledgerNotes }));

/** What a code of the ledger means, and what to do, as sentences. A newer server may have codes that this page does not know. */
export function adviceOn(code: string): Note {
  const reason = reasons.get(code);
  if (reason === undefined)
    return {
      meaning: `The reason has the code ${code}.`,
      remedy: 'Look it up in the list of errors of this version.',
    };
  const meaning = reason.meaning ?? (reason as Refusal).title;
  return { meaning: sentence(meaning), remedy: sentence(reason.remedy) };
}

function sentence(text: string): string {
  return `${text.replaceAll('`', '')}.`;
}
