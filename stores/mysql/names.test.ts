import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { tenancyIdentifier } from '../tenancy-names.ts';
import { ownershipSchema, unsafeNames } from './names.ts';

const names = (schema: string, user = 'user'): string | undefined => unsafeNames({ schema, user });

describe('unsafeNames', () => {
  test.each(['a', 'ns_name', 'Team-1', '$a', '0', 'a'.repeat(64), '-a', 'kine'])('accepts the schema %j', (schema) => {
    expect(names(schema)).toBeUndefined();
  });

  test.each([
    ...[
      '',
      'a/b',
      'a\0b',
      'root',
      'mysql',
      'MySQL',
      'sys',
      'information_schema',
      'performance_schema',
      ownershipSchema,
    ],
    ...['a`b', "a'b", 'a b', ' a', 'a ', 'a;b', 'a?b', 'a@b', 'a:b', 'a%b', 'a.b', 'ä', 'a\\', 'a'.repeat(65)],
  ])('refuses the schema %j', (schema) => {
    expect(names(schema)).toBeDefined();
  });

  test.each(['', 'root', 'mysql', 'mariadb.sys', 'PUBLIC', 'a:b', 'a@b', 'ä', 'a'.repeat(33)])(
    'refuses the user %j',
    (user) => {
      expect(names('schema', user)).toContain(JSON.stringify(user));
    },
  );

  test('accepts every identifier that is derived from a UID', () => {
    fc.assert(
      fc.property(fc.string(), (uid) => {
        expect(names(tenancyIdentifier(uid), tenancyIdentifier(uid))).toBeUndefined();
      }),
    );
  });

  test('accepts nothing that kine would parse differently in user:password@tcp(host:port)/schema?options', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (schema, user) => {
        fc.pre(unsafeNames({ schema, user }) === undefined);
        expect(`${schema}${user}`).not.toMatch(/[:@/?%()\s]/);
      }),
    );
  });
});
