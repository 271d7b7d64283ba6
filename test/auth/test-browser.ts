import { type IncomingMessage, request } from 'node:http';

export type Parameters = Readonly<Record<string, string | undefined>>;

/** A page or a redirect that the browser received. */
export interface Page {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly html: string;
  /** `Location`, if present. */
  readonly location: URL | undefined;
  /** The error on the page; empty without an error. */
  readonly error: string;
}

/** A browser without JavaScript for sign-ins. It stores its cookie and submits forms. */
export class TestBrowser {
  /** `name=value`. */
  cookie: string | undefined;
  readonly #origin: string;
  readonly #address: string;
  #target = '';
  #form: string | undefined;

  /** @param address the address of the browser, in 127.0.0.0/8 */
  constructor(http: string, address: string) {
    this.#origin = `http://${http}`;
    this.#address = address;
  }

  open(target: string): Promise<Page> {
    this.#target = target;
    return this.#send('GET', {});
  }

  /** Posts these fields and the hidden field of the last page to the address of that page. */
  submit(fields: Parameters, headers: Readonly<Record<string, string>> = {}): Promise<Page> {
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    return this.#send('POST', { ...type, ...headers }, encode({ form: this.#form, ...fields }));
  }

  async #send(method: string, headers: Readonly<Record<string, string>>, body?: string): Promise<Page> {
    const cookie = this.cookie === undefined ? {} : { cookie: this.cookie };
    const options = { method, headers: { ...cookie, ...headers }, localAddress: this.#address, agent: false };
    const page = await new Promise<Page>((resolve, reject) => {
      const sent = request(`${this.#origin}${this.#target}`, options, (response) => {
        let html = '';
        response.setEncoding('utf8').on('data', (text: string) => {
          html += text;
        });
        response.once('error', reject).once('end', () => resolve(this.#readPage(response, html)));
      });
      sent.once('error', reject).end(body);
    });
    this.cookie = page.headers['set-cookie']?.[0]?.split(';')[0] ?? this.cookie;
    this.#form = /name="form" value="([^"]*)"/.exec(page.html)?.[1] ?? this.#form;
    return page;
  }

  #readPage({ statusCode = 0, headers }: IncomingMessage, html: string): Page {
    return {
      status: statusCode,
      headers,
      html,
      location: headers.location === undefined ? undefined : new URL(headers.location, this.#origin + this.#target),
      error: /<p class="error"[^>]*>([^<]*)</.exec(html)?.[1] ?? '',
    };
  }
}

/** Encodes a form; `undefined` fields are omitted. */
export function encode(parameters: Parameters): string {
  const given = Object.entries(parameters).filter((pair): pair is [string, string] => pair[1] !== undefined);
  return new URLSearchParams(given).toString();
}
