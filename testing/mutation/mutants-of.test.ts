import { describe, expect, test } from '@jest/globals';
import { mutantsOf } from './mutants-of.ts';
import { mutated, probed } from './texts.ts';

const file = 'runtime/x.ts';
/** Every text that the file becomes, one mutant each. */
const texts = (source: string): readonly string[] => mutantsOf(file, source).map((mutant) => mutated(source, mutant));

describe('Mutants', () => {
  test.each<[string, string, readonly string[]]>([
    ['a bound', 'f = a < b;', ['f = a <= b;']],
    ['both operands', 'f = a && b;', ['f = (a);', 'f = (b);']],
    ['a condition', 'f = a ? b : c;', ['f = !(a) ? b : c;']],
    ['a negation', 'f = !a;', ['f = (a);']],
    ['a number', 'f = 30;', ['f = 30000;']],
    ['a truth value', 'f = true;', ['f = false;']],
    ['a name', "f = 'a';", ["f = '';"]],
    ['a list', 'f = [a];', ['f = [];']],
    ['an optional chain', 'f = a?.b;', ['f = a.b;']],
    ['a filter', 'f = a.filter(b);', ['f = a;']],
    ['a bound of two', 'f = Math.min(a, b);', ['f = (a);', 'f = (b);']],
  ])('change %s', (_what, source, wanted) => {
    expect(texts(source)).toEqual(expect.arrayContaining([...wanted, ';']));
  });

  test('remove guards and statements', () => {
    expect(texts('function f() { if (a) return; b(); }')).toEqual(
      expect.arrayContaining(['function f() { ; b(); }', 'function f() { if (a) return; ; }']),
    );
  });

  test.each([
    ['types', "type F = 'a' | 1;"],
    ['imports', "import { a } from './a.ts';"],
    ['prose', "export const text = 'so it is said';"],
    ['what is only logged', "log.info('told', one);"],
  ])('do not change %s', (_what, source) => {
    expect(texts(source)).toEqual([]);
  });

  test('keep their names when lines move and other code is added, and have unique names', () => {
    const source = 'function f() { return a < b; }\nfunction g() { return a < b && a < b; }';
    const ids = mutantsOf(file, source).map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const moved = mutantsOf(file, `// more\n\nfunction before() { return a < b; }\n${source}`).map(({ id }) => id);
    expect(moved).toEqual(expect.arrayContaining(ids));
  });
});

describe('Probes', () => {
  test('report each place that runs, and do not change what the code does', () => {
    const source = `
      const seen = [];
      const object = { list: [3, 1, 2], least(limit) { return this.list.filter((one) => one > limit).toSorted()[0]; } };
      if (object.list.length > 0 && object.missing?.deep.er === undefined) seen.push(object.least(1));
      if (seen.length > 5) seen.pop();
      return seen;`;
    const mutants = mutantsOf(file, source);
    const told = new Set<string>();
    Object.assign(globalThis, { stewardProbe: (id: string) => told.add(id) });
    try {
      // eslint-disable-next-line @typescript-eslint/no-implied-eval -- the text is the test's own
      const run = new Function(probed(source, mutants)) as () => unknown;
      expect(run()).toEqual([2]);
    } finally {
      Reflect.deleteProperty(globalThis, 'stewardProbe');
    }
    const silent = mutants.filter(({ id }) => !told.has(id)).map(({ original }) => original);
    expect(silent).toEqual(['seen.pop();']);
  });
});
