/**
 * The section of a version in the changelog, without its heading; `Unreleased` as long as the version has no section.
 * @throws when there is neither, or it is empty.
 */
export function releaseNotes(changelog: string, version: string): string {
  const sections = changelog.split(/^## /m).slice(1);
  const sectionOf = (title: string) => sections.find((section) => sectionTitle(section) === title);
  const section = sectionOf(version) ?? sectionOf('Unreleased');
  const notes = section?.slice(section.indexOf('\n') + 1).trim() ?? '';
  if (notes === '') {
    throw new Error(`CHANGELOG.md says nothing about ${version}: add a section "## ${version}" or "## Unreleased"`);
  }
  return `${notes}\n`;
}

/** `[0.2.0] - 2026-11-22` and `v0.2.0` are 0.2.0. */
const sectionTitle = (section: string): string => /^\[?v?([^\]\s]+)/.exec(section)?.[1] ?? '';
