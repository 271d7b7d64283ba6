/** Matches the address of the server in the examples in docs/examples/unleash. */
const exampleAddress = /127\.0\.0\.1(:|, port_value: )8080/g;
const exampleHost = /(Host |host_rewrite_literal: )?\bflags\.example\.com\b/g;

/** Matches the parts of an example that a proxy in front of Unleash needs in addition to its usual configuration. */
const ofRule = /127\.0\.0\.1(:|, port_value: )8080|\(metrics\(\/bulk\)\?\|register\)|\/flagmeter-mirror \{/;

/** Matches the lines for TLS, and the comment before them. The lines for TLS are commented out. */
const withTls =
  /(.*\n)[ \t]*# With TLS to flagmeter, in (place of the line above|addition):\n((?:[ \t]*#(?! \S).*\n)+)/g;

/**
 * Returns the additional rule of an example proxy, with the address of the metrics host.
 * @param example text of a file in docs/examples/unleash
 * @param metricsUrl URL without a path, because a rule cannot add a path
 */
export function proxyRule(example: string, metricsUrl: string): string {
  const parts = example.split(/\n{2,}/).filter((part) => ofRule.test(part));
  return fillIn(`${parts.join('\n\n')}\n`, metricsUrl).trimEnd();
}

/** Inserts the address of the metrics host into an example, or into some of its lines. */
export function fillIn(example: string, metricsUrl: string): string {
  const { protocol, host, hostname, port } = new URL(metricsUrl);
  const isSecure = protocol === 'https:';
  const number = port || (isSecure ? '443' : '80');
  return example
    .replace(withTls, (_, above: string, how: string, lines: string) =>
      isSecure ? (how === 'addition' ? above : '') + lines.replace(/^([ \t]*)#/gm, '$1') : above,
    )
    .replace(exampleAddress, (_, between: string) =>
      between === ':' ? `${hostname}:${number}` : `${hostname.replace(/[[\]]/g, '')}${between}${number}`,
    )
    .replace(exampleHost, (_, header: string | undefined) => (header === undefined ? hostname : header + host));
}
