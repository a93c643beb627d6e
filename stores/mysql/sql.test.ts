import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { connectionsOfAccount, createAccount, grantTable, identifier, kinePool, literal } from './sql.ts';

/** Reads a quoted text as the server's scanner does: to the first quote that is not doubled, and what follows it. */
function scan(text: string, quote: string, escapes: boolean): readonly [value: string, rest: string] {
  let value = '';
  for (let at = 1; at < text.length; at += 1) {
    const char = text.charAt(at);
    if (escapes && char === '\\') {
      at += 1;
      value += text.charAt(at) === '0' ? '\0' : text.charAt(at);
    } else if (char === quote) {
      if (text.charAt(at + 1) !== quote) return [value, text.slice(at + 1)];
      at += 1;
      value += quote;
    } else value += char;
  }
  throw new Error('the text has no end');
}

const hostile = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc
    .array(fc.constantFrom('`', "'", '\\', '"', ';', '--', '\0', '%', '_', 'a', ' OR 1=1'))
    .map((parts) => parts.join('')),
);

describe('quoting', () => {
  test('lets no name end its quotes, and does not change it', () => {
    fc.assert(
      fc.property(hostile, (name) => {
        expect(scan(`${identifier(name)} rest`, '`', false)).toEqual([name, ' rest']);
      }),
    );
  });

  test('lets no text end its quotes, and does not change it', () => {
    fc.assert(
      fc.property(hostile, (value) => {
        expect(scan(`${literal(value)} rest`, "'", true)).toEqual([value, ' rest']);
      }),
    );
  });
});

describe('statements', () => {
  test('grant on the table, where no character of a name is a wildcard', () => {
    expect(grantTable('a_b%', 'u', ['SELECT'])).toBe("GRANT SELECT ON `a_b%`.`kine` TO 'u'@'%'");
  });

  test('require encryption exactly if the datastore has TLS, and limit connections', () => {
    expect(createAccount({ user: 'u', encryption: 'required' }, 'p')).toBe(
      "CREATE USER IF NOT EXISTS 'u'@'%' IDENTIFIED BY 'p' REQUIRE SSL WITH MAX_USER_CONNECTIONS 60 PASSWORD EXPIRE NEVER",
    );
    expect(createAccount({ user: 'u', encryption: 'none' }, 'p')).toContain('REQUIRE NONE');
  });

  test('allow connections for three pods, and for as many during a rollout', () => {
    expect(connectionsOfAccount).toBe(6 * Number(kinePool['datastore-max-open-connections']));
  });
});
