/**
 * Returns the notes of a release: the section of its version in the changelog.
 * @throws {Error} if the changelog has no such section
 */
export function releaseNotes(changelog: string, version: string): string {
  const sections = changelog.split(/^(?=## )/m);
  const section = sections.find((text) => text.startsWith(`## [${version}]`));
  if (section === undefined)
    throw new Error(
      `Cannot write the notes of the release: CHANGELOG.md has no section ## [${version}]. Add the section`,
    );
  return `${section.replace(/^## .*\n/, `# flagmeter ${version}\n`).trim()}\n`;
}
