import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { absentTests } from './named-tests.ts';
import { threatsPage } from './threats-page.ts';
import type { Threat, ThreatGroup } from './threats-page.ts';

const read = (file: string): string => readFileSync(join(import.meta.dirname, '../..', file), 'utf8');
const security = read('docs/explanation/security.md');
const groups = parse(read('testing/repository/threats.yaml')) as readonly ThreatGroup[];
const threats = groups.flatMap((group) => group.threats);
const those = (wrong: (threat: Threat) => boolean): readonly string[] =>
  threats.filter(wrong).map(({ actor, threat }) => `${actor} ${threat}`);

/** The first column of the table below a heading of the page about security. */
function listed(heading: string): readonly string[] {
  const [, section = ''] = security.split(`\n## ${heading}\n`);
  const [text = ''] = section.split('\n## ');
  return [...text.matchAll(/^\| ([^|]+?) \|/gm)].slice(2).map(([, name = '']) => name);
}

describe('The threats', () => {
  test('are there once each, in the form that the page needs', () => {
    expect(new Set(those(() => true)).size).toBe(threats.length);
    expect(those(({ threat }) => !/^[a-z].*[^.]$/s.test(threat))).toEqual([]);
    const texts = ({ protection, missing = '.', operator = '.' }: Threat): readonly string[] => [
      protection,
      missing,
      operator,
    ];
    expect(those((threat) => texts(threat).some((text) => !text.endsWith('.')))).toEqual([]);
  });

  test('are of actors, and against assets, that the page about security lists', () => {
    const [actors, assets] = [listed('Actors'), listed('Assets')];
    expect(those(({ actor }) => !actors.includes(actor))).toEqual([]);
    expect(those(({ asset }) => !assets.includes(asset))).toEqual([]);
  });

  test('are there for every actor and every asset of that page', () => {
    expect(listed('Actors').filter((name) => threats.every(({ actor }) => actor !== name))).toEqual([]);
    expect(listed('Assets').filter((name) => threats.every(({ asset }) => asset !== name))).toEqual([]);
  });

  test('name a test, or say what is missing', () => {
    expect(those(({ tests = [], missing }) => tests.length === 0 && missing === undefined)).toEqual([]);
  });

  test('say what an operator does exactly where something is missing', () => {
    expect(those(({ missing, operator }) => (missing === undefined) !== (operator === undefined))).toEqual([]);
  });

  test('name only tests that exist', () => {
    expect(absentTests(threats.flatMap(({ tests = [] }) => tests))).toEqual([]);
  });

  test('are linked from the page about security, each group', () => {
    const anchor = (group: string): string =>
      group
        .toLowerCase()
        .replaceAll(/[^a-z0-9 -]/g, '')
        .replaceAll(' ', '-');
    const unlinked = groups.filter(({ group }) => !security.includes(`(../reference/threats.md#${anchor(group)})`));
    expect(unlinked.map(({ group }) => group)).toEqual([]);
  });
});

test('The page of threats links to tests, and says what is open', () => {
  const page = threatsPage([
    {
      group: 'Some',
      threats: [
        {
          actor: 'a',
          threat: 'reads | writes',
          asset: 'b',
          protection: 'C.',
          tests: [{ file: 'a/b.ts', title: 'd $e' }],
        },
        {
          ...{ actor: 'a', threat: 'leaves', asset: 'b', protection: 'C.' },
          ...{ tests: [{ file: 'a/b.ts', title: 'd' }], missing: 'E.', operator: 'F.' },
        },
        { actor: 'a', threat: 'stays', asset: 'b', protection: 'None.', missing: 'E.', operator: 'F.' },
      ],
    },
  ]);
  expect(page).toContain('3 threats: tests show the protection against 1, a part of it for 1, and nothing for 1.');
  expect(page).toContain('\n## Some\n');
  expect(page).toContain('| a | reads \\| writes | b | C. | [d …](../../a/b.ts) |\n');
  expect(page).toContain('| a | leaves | b | C. | [d](../../a/b.ts)<br>**Open**: E. **Operators**: F. |\n');
  expect(page).toContain('| a | stays | b | None. | **Open**: E. **Operators**: F. |\n');
});
