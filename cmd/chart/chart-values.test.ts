import { describe, expect, test } from '@jest/globals';
import { chartValues } from './chart-values.ts';
import { valuesSchema } from './values-schema.ts';
import { withValuesTable } from './values-table.ts';

const text = `# About the file, and not about its first value.

# Number of
# managers.
# @schema
# minimum: 0
# @schema
replicas: 1

# A group.
image:
  # One | other.
  # @schema
  # enum: [a, b]
  # @schema
  tag: ""
  # Flags.
  # @schema
  # items: {type: string}
  # @schema
  flags: []
# Anything.
labels:
  a: b
`;

describe('the values of a chart', () => {
  const values = chartValues(text);

  test('are described by the comments above them', () => {
    expect(values.map(({ name, description }) => [name, description])).toEqual([
      ['replicas', 'Number of managers.'],
      ['image', 'A group.'],
      ['labels', 'Anything.'],
    ]);
  });

  test('have a schema of their types, their groups and what is noted', () => {
    expect(JSON.parse(valuesSchema('Values', values))).toEqual({
      $schema: 'http://json-schema.org/draft-07/schema#',
      title: 'Values',
      type: 'object',
      properties: {
        replicas: { description: 'Number of managers.', type: 'integer', default: 1, minimum: 0 },
        image: {
          description: 'A group.',
          type: 'object',
          properties: {
            tag: { description: 'One | other.', type: 'string', default: '', enum: ['a', 'b'] },
            flags: { description: 'Flags.', type: 'array', default: [], items: { type: 'string' } },
          },
          additionalProperties: false,
        },
        labels: { description: 'Anything.', type: 'object', default: { a: 'b' } },
      },
      additionalProperties: false,
    });
  });

  test('stand in a table between the markers of a page', () => {
    const page = withValuesTable('a\n<!-- values: begin; x -->\nold\n<!-- values: end -->\nb\n', values);
    expect(page.split('\n').slice(0, 8)).toEqual([
      ...['a', '<!-- values: begin; x -->', ''],
      ...['| Value | Default | Meaning |', '| --- | --- | --- |'],
      '| `replicas` | `1` | Number of managers. |',
      '| `image` | | A group. |',
      '| `image.tag` | empty | One \\| other. |',
    ]);
    expect(page).toMatch(/\n\n<!-- values: end -->\nb\n$/);
    expect(() => withValuesTable('a page', values)).toThrow('no markers');
  });

  test('without a description among others that have one are refused', () => {
    expect(() => chartValues('# A group.\na:\n  # One.\n  b: 1\n  c: 2\n')).toThrow('the value a.c has no comment');
  });
});
