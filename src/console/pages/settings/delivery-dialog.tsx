import type { Delivery, DeliveryDetail } from '../../../contract/shapes/webhook.ts';
import { usePoll } from '../../api/poll.ts';
import { now } from '../../clock.ts';
import { format } from '../../format.ts';
import { CopyButton } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Reason } from '../../parts/failure.tsx';

interface DeliveryDialogProps {
  /** The path of the delivery. */
  readonly path: string;
  readonly onClose: () => void;
}

/** What was sent to a receiver, and its answer. */
export function DeliveryDialog({ path, onClose }: DeliveryDialogProps) {
  const { data, error } = usePoll<DeliveryDetail>(path, 1000);
  return (
    <Dialog title={data === undefined ? 'Delivery' : `Delivery of ${data.type}`} onClose={onClose}>
      <Reason error={data === undefined ? error : undefined} />
      {data !== undefined && <DeliveryParts delivery={data} />}
      <p class="actions">
        <button type="button" class="primary" onClick={onClose}>
          Close
        </button>
      </p>
    </Dialog>
  );
}

function DeliveryParts({ delivery }: { readonly delivery: DeliveryDetail }) {
  const last = delivery.latest.at(-1);
  return (
    <>
      <h3>Message</h3>
      <Text label="The message" text={delivery.body} />
      <p class="actions">
        <CopyButton text={delivery.body} title="Copy the message" />
      </p>
      <h3>Answer</h3>
      <p role="status" class={last?.error ? 'warn' : undefined}>
        {last === undefined ? 'No answer yet.' : `${lastAttempt(delivery)}, ${deliveryState(delivery)}.`}
      </p>
      {last?.answer && <Text label="The answer" text={last.answer} />}
    </>
  );
}

function Text({ label, text }: { readonly label: string; readonly text: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it must be scrollable by keyboard
    <section class="delivery-text" tabIndex={0} aria-label={label}>
      <pre>{text}</pre>
    </section>
  );
}

/** The state of a delivery, with the time of the next attempt. */
export function deliveryState({ state, nextAttemptAt }: Delivery): string {
  if (state !== 'waiting' || nextAttemptAt === null) return state;
  return `waiting, next ${format.relative(nextAttemptAt, now.value)}`;
}

/** The outcome of the last attempt. */
export function lastAttempt({ latest }: Delivery): string {
  const last = latest.at(-1);
  return last === undefined ? '' : (last.error ?? `answered ${last.status}`);
}
