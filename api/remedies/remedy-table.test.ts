import { describe, expect, test } from '@jest/globals';
import type { ConditionRow } from '../condition-row.ts';
import { commonReasons, conditionTable } from '../conditions.ts';
import { remedyFor, remedyTable } from './remedy-table.ts';
import type { RemediedKind } from './remedy-table.ts';

const remedied = Object.keys(remedyTable) as RemediedKind[];
const reasons = remedied.flatMap((kind) =>
  Object.entries(conditionTable[kind] as Readonly<Record<string, ConditionRow>>).flatMap(([type, row]) =>
    [...Object.keys(row.reasons), ...Object.keys(commonReasons)].map((reason) => ({ kind, type, reason })),
  ),
);

describe('The remedies', () => {
  test.each(reasons)('say what to do about $kind $type $reason', ({ kind, type, reason }) => {
    const { text, commands = [], passes } = remedyFor(kind, type, reason) ?? { text: '', passes: undefined };
    expect(text).toMatch(/^[A-Z].*\.$/s);
    expect(passes).toEqual(expect.any(Boolean));
    // A placeholder that nobody fills would be pasted into a shell.
    const left = commands.map((command) => command.replaceAll(/<(namespace|name|datastore|cluster)>/g, ''));
    for (const command of left) expect(command).not.toMatch(/[<>]/);
  });

  test('belong to reasons that exist', () => {
    for (const kind of remedied) {
      const rows = conditionTable[kind] as Readonly<Record<string, ConditionRow>>;
      for (const [type, remedies] of Object.entries(remedyTable[kind]))
        expect(Object.keys(rows[type]?.reasons ?? {}).sort()).toEqual(Object.keys(remedies as object).sort());
    }
  });

  test('has none for the reason of another API server', () => {
    expect(remedyFor('TenantControlPlane', 'StoreReady', 'Teapot')).toBeUndefined();
  });
});
