import { type CommandName, commandGroups } from '../../src/commands/command-files.ts';
import { commandTable } from '../../src/commands/command-table.ts';
import { helpText } from '../../src/commands/help.ts';

interface Edition {
  readonly version: string;
  /** Date of the manual pages, in seconds since 1970. */
  readonly epoch: number;
}

/**
 * Returns the manual pages, which are made from the help texts. `flagmeter(1)` describes all commands, and
 * `flagmeter-serve(1)` all settings.
 */
export function manPages(edition: Edition): Readonly<Record<string, string>> {
  return { 'flagmeter.1': overviewPage(edition), 'flagmeter-serve.1': servePage(edition) };
}

function overviewPage(edition: Edition): string {
  const { opening, exitCodes } = splitOverview();
  const groups = commandGroups.map(({ title, names }) => {
    const commands = names.map(commandSection);
    return `.SH ${quoted(title.toUpperCase())}\n${commands.join('')}`;
  });
  return `${head('flagmeter', edition)}.SH NAME
flagmeter \\- OAuth tokens and durable usage telemetry for feature flags
.SH SYNOPSIS
.B flagmeter
.I COMMAND
[\\fIARGUMENT\\fR]
[\\fB\\-\\-option\\fR \\fIVALUE\\fR ...]
.SH DESCRIPTION
${roff(opening)}
${groups.join('')}.SH "EXIT STATUS"
${verbatim(exitCodes)}${files}.SH "SEE ALSO"
.BR flagmeter\\-serve (1)
`;
}

function servePage(edition: Edition): string {
  return `${head('flagmeter-serve', edition)}.SH NAME
flagmeter\\-serve \\- the settings of the flagmeter server
.SH SYNOPSIS
.B flagmeter serve
[\\fB\\-\\-option\\fR \\fIVALUE\\fR ...]
.SH DESCRIPTION
${verbatim(helpText('serve'))}.SH SIGNALS
.TP
.BR SIGTERM , " SIGINT"
Refuses new requests, completes and commits pending requests, and exits.
.TP
.B SIGHUP
Rereads the configuration and the TLS files.
${files}.SH "SEE ALSO"
.BR flagmeter (1)
`;
}

const files = `.SH FILES
.TP
.I /etc/flagmeter/flagmeter.json
Settings of the packaged server.
.TP
.I /var/lib/flagmeter
Its data directory.
`;

/** Returns the first line of the overview, and its table of exit codes. @throws {Error} if their format has changed */
function splitOverview(): { readonly opening: string; readonly exitCodes: string } {
  const text = helpText();
  const exitCodes = text.split(/^Exit codes\n/m)[1];
  const opening = text.split('\n')[0];
  if (exitCodes === undefined || opening === undefined)
    throw new Error('The format of the command overview has changed');
  return { opening: `${opening}.`, exitCodes };
}

function commandSection(name: CommandName): string {
  if (name === 'serve')
    return `.SS serve\n${roff(`${commandTable.serve.summary}.`)}\nSee\n.BR flagmeter\\-serve (1).\n`;
  return `.SS ${roff(name)}\n${verbatim(helpText(name))}`;
}

function head(name: string, { version, epoch }: Edition): string {
  const day = new Date(epoch * 1000).toISOString().slice(0, 10);
  return `.\\" Written from the help texts.\n.TH ${name.toUpperCase()} 1 ${day} "flagmeter ${version}" "User Commands"\n`;
}

/**
 * Formats a text with its line breaks. Removes the indentation of the page, because the lines have up to 100 columns.
 */
function verbatim(text: string): string {
  return `.PP\n.in 0\n.nf\n${text.trim().split('\n').map(roff).join('\n')}\n.fi\n.in\n`;
}

/** Escapes a text, so that roff reads nothing in it as an instruction. */
function roff(text: string): string {
  const escaped = text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll("'", '\\(aq')
    .replaceAll('`', '\\(ga')
    .replaceAll('^', '\\(ha')
    .replaceAll('~', '\\(ti')
    .replaceAll('…', '...');
  return escaped.replace(/^\./gm, '\\&.');
}

function quoted(text: string): string {
  return `"${roff(text)}"`;
}
