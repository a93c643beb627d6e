import { describe, expect, test } from '@jest/globals';
import { readManifests } from './read-manifests.ts';

const dataOf = (data: string): unknown => {
  const text = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: ${data}\n`;
  return readManifests(text, 'it')[0]?.data;
};
const named = (name: string, more = ''): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\n${more}`;

describe('readManifests', () => {
  // What sigs.k8s.io/yaml makes of the same scalars, with which API servers and helm read manifests.
  test.each<readonly [string, unknown]>([
    ['0644', 420],
    ['0o644', '0o644'],
    ['"0644"', '0644'],
    ['0x1F', 31],
    ['1_000', 1000],
    ['1e3', 1000],
    ['yes', true],
    ['on', true],
    ['Off', false],
    ['n', false],
    ['y', true],
    ['~', null],
    ['', null],
    ['12:30:45', '12:30:45'],
    ['190:20:30.15', '190:20:30.15'],
    ['2026-11-22', '2026-11-22'],
    ['2026-11-22T10:25:00Z', '2026-11-22T10:25:00Z'],
    ['1.30', 1.3],
    ['"1.30"', '1.30'],
    ['v1.30', 'v1.30'],
    ['9007199254740991', 9007199254740991],
    ['1000000', 1000000],
    ['=', '='],
    // Names and hashes that look like the end of a number.
    ['E0', 'E0'],
    ['e1234567', 'e1234567'],
    ['-e5', '-e5'],
    ['.', '.'],
    ['.e5', '.e5'],
    ['.5', 0.5],
    ['1.', 1],
    ['+1.5e3', 1500],
  ])('%s is read as in Go', (scalar, expected) => {
    expect(dataOf(scalar)).toEqual(expected);
  });

  test('whole numbers beyond 2^53 become the nearest number that JavaScript has', () => {
    expect(dataOf('9223372036854775807')).toBe(2 ** 63);
  });

  test('merges, anchors, block texts and numbers as keys are read', () => {
    expect(dataOf('{one: &x {a: 1, b: 2}, two: {<<: *x, b: 3}}')).toEqual({ one: { a: 1, b: 2 }, two: { a: 1, b: 3 } });
    expect(dataOf('\n  80: http\n  text: |\n    two\n    lines\n')).toEqual({ 80: 'http', text: 'two\nlines\n' });
  });

  test('quoted texts whose lines are not indented are read as Go reads them', () => {
    const text =
      '\n  double: "By default sub,\nwhi ch is expected\n\nto be \\"unique\\"."\n  single: \'it\'\'s\nfolded\'\n  list: ["a\nb", c]\n  "key": last\n';
    expect(dataOf(text)).toEqual({
      double: 'By default sub, whi ch is expected\nto be "unique".',
      single: "it's folded",
      list: ['a b', 'c'],
      key: 'last',
    });
  });

  test('lists whose brackets stand at the beginning of a line are read as Go reads them', () => {
    expect(dataOf('\n  args: [\n    a,\n    b\n  ]\n  map: {\n    a: b\n  }\n')).toEqual({
      args: ['a', 'b'],
      map: { a: 'b' },
    });
  });

  test('a quoted text without an end is not repaired', () => {
    expect(() => dataOf('"never\nends')).toThrow('document 1 is not valid YAML');
  });

  test('a message names the template that the document comes from', () => {
    const text = `---\n# Source: cni/templates/a.yaml\n${named('a')}---\n# Source: cni/templates/b.yaml\na: [\n`;
    expect(() => readManifests(text, 'it')).toThrow('it, document 2 (cni/templates/b.yaml) is not valid YAML');
  });

  test('the last of equal keys counts, as in Go', () => {
    expect(dataOf('{a: 1, a: 2}')).toEqual({ a: 2 });
  });

  test('several documents keep their order, empty ones and comments are no objects', () => {
    const text = `---\n# Source: a\n---\n${named('b')}---\n${named('a')}---\n`;
    expect(readManifests(text, 'it').map(({ metadata }) => metadata.name)).toEqual(['b', 'a']);
    expect(readManifests('', 'it')).toEqual([]);
    expect(readManifests('# nothing\n', 'it')).toEqual([]);
  });

  test('a list is replaced by its items', () => {
    const text = 'apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Secret, metadata: {name: s}}\n';
    expect(readManifests(text, 'it')).toEqual([{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' } }]);
  });

  test.each([
    ['just words', 'it, document 1 is not a Kubernetes object'],
    ['- a', 'it, document 1 is not a Kubernetes object'],
    ['kind: Secret', 'it, document 1 has no apiVersion or kind'],
    ['apiVersion: v1\nkind: Secret', 'it, document 1 is a Secret without metadata.name'],
    ['apiVersion: v1\nkind: Secret\nmetadata:', 'it, document 1 is a Secret without metadata.name'],
    ['apiVersion: v1\nkind: Job\nmetadata: {generateName: x-}', 'generateName alone cannot be applied twice'],
    [`${named('a')}data: .inf`, 'it, document 1, ConfigMap a has a number that JSON cannot represent: Infinity'],
    [`${named('a')}data: !!binary aGVsbG8=`, 'it, document 1 is not valid YAML: TAG_RESOLVE_FAILED at line 4'],
    [`${named('a')}---\na: [`, 'it, document 2 is not valid YAML: '],
    [`${named('a')}a: *nobody`, 'it, document 1 is not valid YAML: an alias has no anchor or expands too far'],
  ])('%j is refused', (text, message) => {
    expect(() => readManifests(text, 'it')).toThrow(message);
  });

  test('exponential aliases are refused', () => {
    const levels = Array.from('abcdefgh').map((name, index, all) => {
      const inner = index === 0 ? '"x"' : `*${all[index - 1] ?? ''}`;
      return `${name}: &${name} [${Array(10).fill(inner).join(', ')}]`;
    });
    expect(() => readManifests(named('a', levels.join('\n')), 'it')).toThrow(/document 1 is not valid YAML/);
  });

  test.each(['a: !Passw0rd x', 'a: *Passw0rd', 'a: "\\Passw0rd"', '[Passw0rd', '!Passw0rd'])(
    'a message about %j quotes nothing of it',
    (text) => {
      let message = '';
      try {
        readManifests(text, 'it');
      } catch (error) {
        ({ message } = error as Error);
      }
      expect(message).toContain('it, document 1');
      expect(message).not.toMatch(/Passw0rd|assw/);
    },
  );

  test('a message about broken YAML quotes nothing of it', () => {
    const text = `${named('a')}stringData: {password: "top secret}\n`;
    expect(() => readManifests(text, 'it')).toThrow('document 1 is not valid YAML');
    expect(() => readManifests(text, 'it')).not.toThrow('top secret');
  });
});
