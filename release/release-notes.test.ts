import { describe, expect, test } from '@jest/globals';

import { releaseNotes } from './release-notes.ts';

const changelog =
  '# Changelog\n\n## Unreleased\n\nNew.\n\n## [0.2.0] - 2026-01-01\n\n### Added\n\nOld.\n\n## v0.1.0\n\nFirst.\n';

describe('the notes of a release', () => {
  test.each([
    ['0.3.0', 'New.\n'],
    ['0.2.0', '### Added\n\nOld.\n'],
    ['0.1.0', 'First.\n'],
  ])('%s are its section of the changelog, or what is unreleased', (version, notes) => {
    expect(releaseNotes(changelog, version)).toBe(notes);
  });

  test('must say something', () => {
    expect(() => releaseNotes('# Changelog\n\n## Unreleased\n', '0.3.0')).toThrow(
      'CHANGELOG.md says nothing about 0.3.0',
    );
  });
});
