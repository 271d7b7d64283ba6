import type { FirstCredentials } from '../accounts/prepare.ts';

/** A demo that is ready. */
export interface ReadyDemo extends FirstCredentials {
  readonly url: string;
  /** `HOST:PORT`. */
  readonly grpc: string;
  readonly data: string;
  readonly seconds: number;
}

/** What a person who has started a demo reads. */
export function welcomeText({ url, data, seconds, ...demo }: ReadyDemo): string {
  return `flagmeter demo: 90 days of a made-up shop, with live traffic. Ready in ${seconds.toFixed(1)} s.

  Open            ${url}/
  E-mail          ${demo.adminEmail}
  Password        ${demo.adminPassword}

  For the API     ${url}/connect/token
  Client id       ${demo.clientId}
  Client secret   ${demo.clientSecret}
  gRPC            ${demo.grpc}

Look at: checkout-redesign (rolled out), basket-layout (an A/B test with a winner), free-shipping-banner
(one without), legacy-invoice-pdf (no longer asked for), chekout-redesign (a typing error).

Ctrl-C stops the demo and removes ${data}.
`;
}
