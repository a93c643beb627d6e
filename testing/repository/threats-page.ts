import type { NamedTest } from './named-tests.ts';
import { proofLinks, proofTable } from './proof-table.ts';

/** What someone could do to an asset. */
export interface Threat {
  /** Of the table of actors in docs/explanation/security.md. */
  readonly actor: string;
  /** What the actor does: a sentence without its subject and its end. */
  readonly threat: string;
  /** Of the table of assets there. */
  readonly asset: string;
  readonly protection: string;
  /** Tests that fail without the protection, or without a part of it. */
  readonly tests?: readonly NamedTest[];
  /** What is not prevented, or not shown by a test, and why. */
  readonly missing?: string;
  /** What an operator does about what is missing. */
  readonly operator?: string;
}

/** Threats about one matter. */
export interface ThreatGroup {
  readonly group: string;
  readonly threats: readonly Threat[];
}

const heads = ['Actor', 'Threat', 'Asset', 'Protection', 'Tests, and what they leave open'];

function row({ actor, threat, asset, protection, tests = [], missing, operator = '' }: Threat): readonly string[] {
  const open = missing === undefined ? [] : [`**Open**: ${missing} **Operators**: ${operator}`];
  return [actor, threat, asset, protection, [...(tests.length === 0 ? [] : [proofLinks(tests)]), ...open].join('<br>')];
}

/** How many threats are prevented as far as tests show, in part, and not, in one sentence. */
function threatCounts(threats: readonly Threat[]): string {
  const open = threats.filter(({ missing }) => missing !== undefined);
  const bare = open.filter(({ tests = [] }) => tests.length === 0).length;
  return `${threats.length} threats: tests show the protection against ${threats.length - open.length}, a part of it for ${open.length - bare}, and nothing for ${bare}.`;
}

/** The page that lists each threat with the tests of its protection, or why there is none. */
export function threatsPage(groups: readonly ThreatGroup[]): string {
  const text = [
    '<!-- Made by `npm run gen` from testing/repository/threats.yaml; do not edit. -->',
    '# Threats and the tests of their protection',
    'Who could do what to Steward and its tenants, what prevents it, and which tests fail without that. *Open* is what nothing\n' +
      'prevents or no test shows; then the row says what operators do about it. [Security](../explanation/security.md) describes\n' +
      'the [assets](../explanation/security.md#assets), the [actors](../explanation/security.md#actors) and the protection.\n' +
      '`…` in the title of a test stands for the values with which it runs several times.',
    threatCounts(groups.flatMap(({ threats }) => threats)),
    ...groups.flatMap(({ group, threats }) => [`## ${group}`, proofTable(heads, threats.map(row))]),
  ].join('\n\n');
  return `${text}\n`;
}
