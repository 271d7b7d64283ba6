import { type Connection, type Lines, safeJson, safeText, safeUrl, shellWord, type Target } from './target.ts';

const exampleFeature = 'checkout';
const counts = { [exampleFeature]: { on: [1, 1, 1] } };

const ofPacket = 'one check, one use and one view';
const ofReport = 'one check and one use';

export const ownTargets: readonly Target[] = [
  {
    id: 'curl',
    label: 'curl',
    keyTypes: ['Frontend', 'Mobile', 'Backend'],
    lines: (connection) =>
      createLines(
        'curl',
        'Run the command in a terminal. The status is 202 or 200.',
        curl(connection),
        connection.keyType === 'Backend' ? ofReport : ofPacket,
      ),
  },
  forPages('browser', 'Browser', browser, ' The page sends every 10 seconds.'),
  forPages('fetch', 'fetch', browserFetch),
  forServers('node', 'Node.js', node, 'Save the code as send.mjs and run: node send.mjs'),
  forServers(
    'dotnet',
    '.NET',
    dotnet,
    'Put the code in Program.cs of a console project (.NET 7 or later) and run: dotnet run',
  ),
  forServers('php', 'PHP', php, 'Save the code as send.php and run: php send.php'),
  forServers('java', 'Java', java, 'Save the code as Send.java and run: java Send.java (Java 17 or later)'),
];

type Write = (connection: Connection) => string;

function forPages(id: string, label: string, write: Write, more = ''): Target {
  const lines = (connection: Connection) => {
    const how = `Put the code into a page, and open the page from ${allowedFrom(connection)}.${more}`;
    return createLines(label, how, write(connection), ofPacket);
  };
  return { id, label, keyTypes: ['Frontend'], lines };
}

function forServers(id: string, label: string, write: Write, how: string): Target {
  const lines = (connection: Connection) => createLines(label, how, write(connection), ofReport);
  return { id, label, keyTypes: ['Backend'], lines };
}

function createLines(label: string, how: string, code: string, reported: string): Lines {
  return {
    intro: `The code reports ${reported} of the flag ${exampleFeature} with its variant on. An SDK sends the same in batches.`,
    blocks: [{ name: `sender for ${label}`, how, code }],
  };
}

function allowedFrom({ allowedOrigins }: Connection): string {
  return allowedOrigins.length === 0 ? 'any web server' : `an allowed origin (${allowedOrigins.join(', ')})`;
}

/** Returns an allowed origin of the application. */
export function originFor(allowedOrigins: readonly string[]): string {
  const [first = 'http://localhost'] = allowedOrigins;
  return first.replace('://*.', '://www.').replace(/:\*$/, '');
}

function packet({ key, environment }: Connection): string {
  return safeJson({ k: key, e: environment, f: counts });
}

function telemetryUrl({ metricsUrl }: Connection): string {
  return safeUrl(metricsUrl, '/api/frontend/telemetry');
}

function reportUrl({ metricsUrl }: Connection): string {
  return safeUrl(metricsUrl, '/api/usage/stats');
}

/** Placeholder for the time of sending. Names cannot contain it, because `safeJson` escapes brackets. */
const now = '<now>';

function report({ key, environment }: Connection): string {
  const stats = [{ feature: exampleFeature, variantStats: { on: { checkCount: 1, usedCount: 1 } } }];
  return safeJson({ appKey: key, environment, time: now, stats }).replace(safeText(now), `"${now}"`);
}

function curl(connection: Connection): string {
  if (connection.keyType === 'Backend') return curlReport(connection);
  const origin =
    connection.keyType === 'Frontend'
      ? ` \\\n  -H ${shellWord(`Origin: ${originFor(connection.allowedOrigins)}`)}`
      : '';
  return `curl -i ${shellWord(telemetryUrl(connection))} \\
  -H 'Content-Type: application/json'${origin} \\
  -d ${shellWord(packet(connection))}`;
}

function curlReport(connection: Connection): string {
  const json = shellWord(report(connection)).replace(now, `'"$(date -u +%Y-%m-%dT%H:%M:%SZ)"'`);
  return `curl -i ${shellWord(reportUrl(connection))} \\
  -H 'Content-Type: application/json' \\
  -d ${json}`;
}

function browser({ metricsUrl, key, environment }: Connection): string {
  const of = `${safeText(exampleFeature)}, "on"`;
  return `<script type="module">
  import { flagmeter } from ${safeText(safeUrl(metricsUrl, '/snippet.js'))};
  const meter = flagmeter(${safeJson({ key, environment })});
  meter.checked(${of});
  meter.used(${of});
  meter.viewed(${of});
</script>`;
}

function browserFetch(connection: Connection): string {
  return `<script type="module">
  const packet = ${packet(connection)};
  const response = await fetch(${safeText(telemetryUrl(connection))}, {
    method: "POST",
    keepalive: true,
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(packet),
  });
  console.log(response.status);
</script>`;
}

function node(connection: Connection): string {
  return `const report = ${report(connection).replace(`"${now}"`, 'new Date()')};
const response = await fetch(${safeText(reportUrl(connection))}, {
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify(report),
});
console.log(response.status, await response.text());`;
}

function dotnet(connection: Connection): string {
  return `using System.Text;

var report = """${report(connection)}"""
    .Replace("${now}", DateTime.UtcNow.ToString("o"));
using var http = new HttpClient();
var response = await http.PostAsync(
    ${safeText(reportUrl(connection))},
    new StringContent(report, Encoding.UTF8, "application/json"));
Console.WriteLine($"{(int)response.StatusCode} {await response.Content.ReadAsStringAsync()}");`;
}

function php(connection: Connection): string {
  return `<?php
$report = str_replace('${now}', gmdate('Y-m-d\\TH:i:s\\Z'),
    '${report(connection)}');
$response = file_get_contents('${reportUrl(connection)}', false, stream_context_create(['http' => [
    'method' => 'POST',
    'header' => 'Content-Type: application/json',
    'content' => $report,
    'ignore_errors' => true,
]]));
echo $http_response_header[0], ' ', $response, PHP_EOL;`;
}

function java(connection: Connection): string {
  return `import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Instant;

class Send {
  public static void main(String[] args) throws Exception {
    var report = """
        ${report(connection).replaceAll('\\', '\\\\')}"""
        .replace("${now}", Instant.now().toString());
    var request = HttpRequest.newBuilder(URI.create("${reportUrl(connection)}"))
        .header("Content-Type", "application/json")
        .POST(HttpRequest.BodyPublishers.ofString(report))
        .build();
    var response = HttpClient.newHttpClient().send(request, BodyHandlers.ofString());
    System.out.println(response.statusCode() + " " + response.body());
  }
}`;
}
