import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { table } from './table.ts';

const columns = [
  { title: 'A', value: (row: readonly string[]) => row[0] ?? '' },
  { title: 'B', value: (row: readonly string[]) => row[1] ?? '', tone: () => 'good' as const },
  { title: 'C', wide: true, value: (row: readonly string[]) => row[2] ?? '' },
];

test('columns line up, with and without colors', () => {
  const rows = [
    ['long cell', 'x', 'w'],
    ['', 'y', 'w'],
  ];
  const plain = table(rows, columns, { wide: false, colors: false });
  expect(plain).toBe('A           B\nlong cell   x\n<none>      y\n');
  const colorful = table(rows, columns, { wide: true, colors: true });

  expect(colorful.replaceAll(/\u001b\[\d+m/g, '')).toBe(table(rows, columns, { wide: true, colors: false }));
});

test('no text breaks a line or commands the terminal', () => {
  const text = fc.string({ unit: 'binary' });
  fc.assert(
    fc.property(fc.array(fc.tuple(text, text, text)), (rows) => {
      const printed = table(rows, columns, { wide: true, colors: false });
      expect(printed.split('\n')).toHaveLength(rows.length + 2);

      expect(printed.replaceAll('\n', '')).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
    }),
  );
});
