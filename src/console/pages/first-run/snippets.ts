import { type Lines, type Subject, safeJson, safeText, safeUrl, shellWord, type Target } from './target.ts';

const exampleFlag = 'checkout';
const counts = { [exampleFlag]: { on: [1, 1, 1] } };

const ofPacket = 'one check, one use and one view';
const ofReport = 'one check and one use';

export const ownTargets: readonly Target[] = [
  {
    id: 'curl',
    label: 'curl',
    keyTypes: ['Frontend', 'Mobile', 'Backend'],
    lines: (subject) =>
      linesOf(
        'curl',
        'Run it in a terminal. The status is 202 or 200.',
        curl(subject),
        subject.keyType === 'Backend' ? ofReport : ofPacket,
      ),
  },
  forPages('browser', 'Browser', browser, ' It sends every 10 seconds.'),
  forPages('fetch', 'fetch', browserFetch),
  forServers('node', 'Node.js', node, 'Save it as send.mjs and run: node send.mjs'),
  forServers(
    'dotnet',
    '.NET',
    dotnet,
    'Put it in Program.cs of a console project (.NET 7 or later) and run: dotnet run',
  ),
  forServers('php', 'PHP', php, 'Save it as send.php and run: php send.php'),
  forServers('java', 'Java', java, 'Save it as Send.java and run: java Send.java (Java 17 or later)'),
];

type Write = (subject: Subject) => string;

function forPages(id: string, label: string, write: Write, more = ''): Target {
  const lines = (subject: Subject) => {
    const how = `Put it into a page, and open the page from ${allowedFrom(subject)}.${more}`;
    return linesOf(label, how, write(subject), ofPacket);
  };
  return { id, label, keyTypes: ['Frontend'], lines };
}

function forServers(id: string, label: string, write: Write, how: string): Target {
  const lines = (subject: Subject) => linesOf(label, how, write(subject), ofReport);
  return { id, label, keyTypes: ['Backend'], lines };
}

function linesOf(label: string, how: string, code: string, reported: string): Lines {
  return {
    intro: `It reports ${reported} of the flag ${exampleFlag} with its variant on. An SDK sends the same in batches.`,
    blocks: [{ name: `sender for ${label}`, how, code }],
  };
}

function allowedFrom({ allowedOrigins }: Subject): string {
  return allowedOrigins.length === 0 ? 'any web server' : `an allowed origin (${allowedOrigins.join(', ')})`;
}

/** An allowed origin of the application. */
export function originFor(allowedOrigins: readonly string[]): string {
  const [first = 'http://localhost'] = allowedOrigins;
  return first.replace('://*.', '://www.').replace(/:\*$/, '');
}

function packet({ key, environment }: Subject): string {
  return safeJson({ k: key, e: environment, f: counts });
}

function telemetryUrl({ metricsUrl }: Subject): string {
  return safeUrl(metricsUrl, '/api/frontend/telemetry');
}

function reportUrl({ metricsUrl }: Subject): string {
  return safeUrl(metricsUrl, '/api/usage/stats');
}

/** Placeholder for the time of sending. No name contains it: `safeJson` escapes brackets. */
const now = '<now>';

function report({ key, environment }: Subject): string {
  const stats = [{ feature: exampleFlag, variantStats: { on: { checkCount: 1, usedCount: 1 } } }];
  return safeJson({ appKey: key, environment, time: now, stats }).replace(safeText(now), `"${now}"`);
}

function curl(subject: Subject): string {
  if (subject.keyType === 'Backend') return curlReport(subject);
  const origin =
    subject.keyType === 'Frontend' ? ` \\\n  -H ${shellWord(`Origin: ${originFor(subject.allowedOrigins)}`)}` : '';
  return `curl -i ${shellWord(telemetryUrl(subject))} \\
  -H 'Content-Type: application/json'${origin} \\
  -d ${shellWord(packet(subject))}`;
}

function curlReport(subject: Subject): string {
  const json = shellWord(report(subject)).replace(now, `'"$(date -u +%Y-%m-%dT%H:%M:%SZ)"'`);
  return `curl -i ${shellWord(reportUrl(subject))} \\
  -H 'Content-Type: application/json' \\
  -d ${json}`;
}

function browser({ metricsUrl, key, environment }: Subject): string {
  const of = `${safeText(exampleFlag)}, "on"`;
  return `<script type="module">
  import { flagmeter } from ${safeText(safeUrl(metricsUrl, '/snippet.js'))};
  const meter = flagmeter(${safeJson({ key, environment })});
  meter.checked(${of});
  meter.used(${of});
  meter.viewed(${of});
</script>`;
}

function browserFetch(subject: Subject): string {
  return `<script type="module">
  const packet = ${packet(subject)};
  const answer = await fetch(${safeText(telemetryUrl(subject))}, {
    method: "POST",
    keepalive: true,
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(packet),
  });
  console.log(answer.status);
</script>`;
}

function node(subject: Subject): string {
  return `const report = ${report(subject).replace(`"${now}"`, 'new Date()')};
const answer = await fetch(${safeText(reportUrl(subject))}, {
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify(report),
});
console.log(answer.status, await answer.text());`;
}

function dotnet(subject: Subject): string {
  return `using System.Text;

var report = """${report(subject)}"""
    .Replace("${now}", DateTime.UtcNow.ToString("o"));
using var http = new HttpClient();
var answer = await http.PostAsync(
    ${safeText(reportUrl(subject))},
    new StringContent(report, Encoding.UTF8, "application/json"));
Console.WriteLine($"{(int)answer.StatusCode} {await answer.Content.ReadAsStringAsync()}");`;
}

function php(subject: Subject): string {
  return `<?php
$report = str_replace('${now}', gmdate('Y-m-d\\TH:i:s\\Z'),
    '${report(subject)}');
$answer = file_get_contents('${reportUrl(subject)}', false, stream_context_create(['http' => [
    'method' => 'POST',
    'header' => 'Content-Type: application/json',
    'content' => $report,
    'ignore_errors' => true,
]]));
echo $http_response_header[0], ' ', $answer, PHP_EOL;`;
}

function java(subject: Subject): string {
  return `import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Instant;

class Send {
  public static void main(String[] args) throws Exception {
    var report = """
        ${report(subject).replaceAll('\\', '\\\\')}"""
        .replace("${now}", Instant.now().toString());
    var request = HttpRequest.newBuilder(URI.create("${reportUrl(subject)}"))
        .header("Content-Type", "application/json")
        .POST(HttpRequest.BodyPublishers.ofString(report))
        .build();
    var answer = HttpClient.newHttpClient().send(request, BodyHandlers.ofString());
    System.out.println(answer.statusCode() + " " + answer.body());
  }
}`;
}
