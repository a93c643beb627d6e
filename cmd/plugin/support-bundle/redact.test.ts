import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { bootstrapTokenSecret, newBootstrapToken, tokenEntropyBytes } from '../../../kubeadm/bootstrap-token.ts';
import { issueServiceAccountKeys } from '../../../kubeadm/pki/issue.ts';
import { redacted, redactLongText, redactObject, redactText } from './redact.ts';

let privateKey: string;
beforeAll(async () => {
  ({ privateKey } = await issueServiceAccountKeys('ECDSA-P256'));
});

const random = (octets: number): string => randomBytes(octets).toString('base64url');
const jwt = `eyJhbGciOiJFUzI1NiJ9.${Buffer.from('{"sub":"x"}').toString('base64url')}.${random(48)}`;
const seed = `SUA${'A2B3'.repeat(14)}`.slice(0, 58);
// What begins with a dash is a flag, and no password of one.
const password = `p${random(12)}`;
const stamp = '2026-11-26T10:00:00.123456789Z';

/** Of these, a tenant may log as many as it wants. */
const units = [
  '-----BEGIN PRIVATE KEY-----',
  '-----BEGIN ',
  'eyJ',
  'eyJaaaaaa-',
  '-eyJaaaaaa',
  'eyJaaaaaa.',
  'password="',
  'password=',
  'password: |\n ',
  'password ',
  'token\\"',
  'secret:{',
  '--password ',
  '--user=',
  '-u a:',
  '- --a-',
  '://a:',
  '://',
  'a:b',
  'a:',
  'a@',
  '\\"',
  'LS0tLS1CRUdJTi',
  'x.',
  ' ',
  '\n',
];

describe('Text', () => {
  test.each([
    ['a bearer token', `Authorization: Bearer ${jwt}`, jwt],
    ['a token alone', `got ${jwt}, which is refused`, jwt],
    ['a URL with a password', `dial postgres://shop:${password}@pg:5432/shop failed`, password],
    ['a URL with only a password', `redis://:${password}@host`, password],
    ['a data source of MySQL', `open shop:${password}@tcp(mysql:3306)/shop`, password],
    ['a flag', `--oidc-client-secret=${password} --v=2`, password],
    ['a variable', `DB_PASSWORD=${password}`, password],
    ['YAML', `user: x\npassword: ${password}\nnext: y`, password],
    ['JSON', `{"token": "${password}", "name": "x"}`, password],
    ['JSON in JSON', `{"body":"{\\"password\\":\\"${password}\\"}"}`, password],
    ['quotes with spaces', `password="${password} and more"`, 'and more'],
    ['a word behind another', `password: correct ${password}`, password],
    ['a word behind another, in a variable', `DB_PASSWORD=correct ${password} HOST=x`, password],
    ['many words in YAML', `- name: x\n  password: correct horse battery ${password} # mine`, password],
    ['many words in a log', `${stamp} password: correct horse ${password}`, password],
    ['a bootstrap token', 'joins with abcdef.0123456789abcdef now', 'abcdef.0123456789abcdef'],
    ['a seed of NATS', `key ${seed} loaded`, seed],
    ['an access key', `aws_secret_access_key = ${password}`, password],
    ['a flag and its value apart', `etcdctl --password ${password}`, password],
    ['a flag and its value as elements', `command: ["etcdctl", "--password", "${password}"]`, password],
    ['a flag and its value on two lines', `- --password\n- ${password}\n`, password],
    ['a user with a password', `etcdctl --user root:${password}`, password],
    ['a user with a password as elements', `["--user", "root:${password}"]`, password],
    ['a block of YAML', `a:\n  password: |\n    ${password}\n    x\n  next: y`, password],
    ['a block of YAML in a log', `${stamp} password: |-\n${stamp}   ${password}\n${stamp} next: y`, password],
    ['a block of YAML in JSON', `{"x":"password: |\\n  ${password}\\nnext: y"}`, password],
    ['a mapping on lines', `credentials:\n  a: ${password}\nnext: y`, password],
    ['a mapping on one line', `credentials: {a: "${password}", b: {c: "}${password}"}}`, password],
    ['a quote in the value', `{"password":"abc\\"${password}"}`, password],
    ['a quote in JSON in JSON', `{"body":"{\\"password\\":\\"abc\\\\\\"${password}\\"}"}`, password],
    ['a short name', `pass=${password}`, password],
    ['a shorter name', `DB_PWD: ${password}`, password],
    ['a plural', `passwords: ${password}`, password],
    ['a list', `{"tokens":["x","${password}"]}`, password],
    ['a slash in the password of a URL', `postgres://shop:a/${password}@pg`, password],
    ['a token after a line break in JSON', `{"x":"a\\n${jwt}"}`, jwt],
    ['much on one line before it', `${'x '.repeat(20_000)}password=${password}`, password],
  ])('with %s loses it', (_, text, secret) => {
    expect(text).toContain(secret);
    expect(redactText(text)).not.toContain(secret);
    expect(redactText(text)).toContain(redacted);
  });

  test('loses private keys: as PEM, on one line, cut off, and in base64', () => {
    const [, body = ''] = privateKey.split('\n');
    for (const text of [
      privateKey,
      `before ${privateKey} after`,
      JSON.stringify({ data: privateKey }),
      privateKey.slice(0, -40),
    ]) {
      expect(redactText(text)).not.toContain(body);
    }
    const encoded = Buffer.from(privateKey).toString('base64');
    expect(redactText(`client-key-data: ${encoded}`)).not.toContain(encoded.slice(20, 60));
    expect(redactText(`value ${encoded}`)).not.toContain(encoded.slice(20, 60));
  });

  test.each([
    'Secret shop-ca is missing: restore it from a backup',
    'secretName: shop-admin-kubeconfig',
    'image registry.k8s.io/kube-apiserver:v1.36.3 cannot be pulled',
    'waiting for pods: shop-6b5f8c-x2x7k',
    '2026-11-26T10:00:00Z node-1 is Ready',
    'tokens, keys and passwords are documented',
    'bypass: true',
    'Error: invalid token:\n    at read (file.js:1:2)',
    'docker-pullable://registry/image:1@sha256:0123',
  ])('that only speaks of secrets stays: %s', (text) => {
    expect(redactText(text)).toBe(text);
  });

  test('is redacted once and for all', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const once = redactText(`${text} password=${password}`);
        expect(once).not.toContain(password);
        expect(redactText(once)).toBe(once);
      }),
    );
  });

  test('of any parts is redacted without an error, and loses a password at its end', () => {
    const part = fc.oneof(fc.constantFrom(...units), fc.string({ maxLength: 4 }));
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
        expect(redactText(`${parts.join('')}\npassword=${password}`)).not.toContain(password);
      }),
    );
  });

  test.each(units)('does not take long: a MiB of %j', (unit) => {
    const text = unit.repeat(Math.ceil(2 ** 20 / unit.length));
    const started = process.cpuUsage();
    redactText(text);
    const { user, system } = process.cpuUsage(started);
    expect((user + system) / 1000).toBeLessThan(10_000);
  });
});

describe('A long text', () => {
  test('is redacted as a short one, wherever it is divided', async () => {
    const part = fc.oneof(fc.constantFrom(...units, `password: ${password}\n`), fc.string({ maxLength: 4 }));
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 24 }), fc.integer({ min: 1, max: 40 }), async (parts, length) => {
        const text = parts.join('');
        expect(await redactLongText(text, () => Promise.resolve(), length)).toBe(redactText(text));
      }),
    );
  });

  test('leaves time for others in between', async () => {
    const text = `a line of a log with password=${password} and more\n`.repeat(40_000);
    let pauses = 0;
    let longestMs = 0;
    let since = performance.now();
    const left = await redactLongText(text, () => {
      pauses += 1;
      longestMs = Math.max(longestMs, performance.now() - since);
      since = performance.now();
      return Promise.resolve();
    });
    expect(left).not.toContain(password);
    expect(pauses).toBeGreaterThan(15);
    // Of the whole text, no step may be more than a part.
    expect(longestMs).toBeLessThan(10_000);
  });
});

describe('An object', () => {
  test('loses the values of a Secret and keeps the names of its keys', () => {
    const token = newBootstrapToken(randomBytes(tokenEntropyBytes));
    const secret = { ...bootstrapTokenSecret({ token }), stringData: { extra: password } };
    const shown = redactObject<unknown>(secret) as { readonly data: Record<string, unknown> };
    expect(Object.keys(shown.data)).toContain('token-secret');
    const text = JSON.stringify(shown);
    for (const lost of [token.secret, Buffer.from(token.secret).toString('base64'), password]) {
      expect(text).not.toContain(lost);
    }
  });

  test('loses what kubectl apply repeats, and managedFields', () => {
    const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': `{"data":{"a":"${password}"}}`, a: 'b' };
    const metadata = { name: 'x', annotations, managedFields: [{ manager: 'x' }] };
    expect(redactObject({ metadata })).toEqual({ metadata: { name: 'x', annotations: { a: 'b' } } });
  });

  test('loses inline content of a DataStore, and values of variables and fields with such a name', () => {
    const object = {
      basicAuth: { password: { content: Buffer.from(password).toString('base64') } },
      env: [
        { name: 'DB_PASSWORD', value: password },
        { name: 'REGION', value: 'x' },
      ],
      clientSecret: password,
      secretName: 'shop-ca',
      args: [`--token=${password}`],
    };
    expect(redactObject(object)).toEqual({
      basicAuth: { password: { content: redacted } },
      env: [
        { name: 'DB_PASSWORD', value: redacted },
        { name: 'REGION', value: 'x' },
      ],
      clientSecret: redacted,
      secretName: 'shop-ca',
      args: [`--token=${redacted}`],
    });
  });

  test('loses whatever stands under such a name, and what follows such a flag', () => {
    const object = {
      password: 12345,
      passwords: [password, 7],
      credentials: { a: password, b: { c: [password] } },
      command: ['etcdctl', '--password', password, '--user', `root:${password}`, '--token', '--v=2'],
    };
    expect(redactObject<unknown>(object)).toEqual({
      password: redacted,
      passwords: [redacted, redacted],
      credentials: { a: redacted, b: { c: [redacted] } },
      command: ['etcdctl', '--password', redacted, '--user', redacted, '--token', '--v=2'],
    });
  });

  test('keeps what refers to secrets', () => {
    const object = {
      automountServiceAccountToken: false,
      secrets: [{ name: 'a' }],
      imagePullSecrets: [{ name: 'b' }],
      tokenExpirationSeconds: 600,
      env: [{ name: 'PASSWORD', valueFrom: { secretKeyRef: { name: 'a', key: 'b' } } }],
      volumes: [
        { name: 'a', secret: { secretName: 'a', defaultMode: 420, items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
        { projected: { sources: [{ serviceAccountToken: { path: 'token', expirationSeconds: 600 } }] } },
      ],
      password: { secretReference: { name: 'a', namespace: 'b', keyPath: 'password' } },
      credentials: { secretName: 'a', checksum: 'c', lastUpdate: '2026-11-26T10:00:00Z' },
    };
    expect(redactObject(object)).toEqual(object);
  });
});
