import { environmentAddress } from '../../address.ts';

interface NothingSeenProps {
  readonly app: string;
  readonly environment: string;
}

/** What stands where the flags will be. */
export function NothingSeen({ app, environment }: NothingSeenProps) {
  return (
    <section class="empty">
      <h2>No flag was seen in {environment} yet</h2>
      <p>Flags appear here as soon as the first packet or report names one.</p>
      <p>
        <a class="button primary" href={environmentAddress(app, environment, 'connect')}>
          Connect an SDK
        </a>
      </p>
    </section>
  );
}
