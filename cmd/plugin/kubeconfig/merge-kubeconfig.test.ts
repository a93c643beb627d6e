import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parse, stringify } from 'yaml';
import { readKubeconfig } from '../../../api/kubeconfig.ts';
import { mergeKubeconfig } from './merge-kubeconfig.ts';
import type { KubeconfigEntry } from './merge-kubeconfig.ts';

const entry: KubeconfigEntry = { name: 'tenants-shop', cluster: { server: 'https://shop:6443' }, user: { token: 't' } };
const how = { use: false, overwrite: false, hasCurrent: false };
const other = {
  apiVersion: 'v1',
  kind: 'Config',
  'current-context': 'other',
  preferences: { colors: true },
  clusters: [{ name: 'other', cluster: { server: 'https://other' } }],
  users: [{ name: 'other', user: { exec: { command: 'login' } } }],
  contexts: [{ name: 'other', context: { cluster: 'other', user: 'other', namespace: 'x' } }],
};

test('an empty file gets the context, which becomes the current one', () => {
  expect(parse(mergeKubeconfig('', entry, how))).toEqual({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'tenants-shop',
    clusters: [{ name: 'tenants-shop', cluster: entry.cluster }],
    users: [{ name: 'tenants-shop', user: entry.user }],
    contexts: [{ name: 'tenants-shop', context: { cluster: 'tenants-shop', user: 'tenants-shop' } }],
  });
});

test('what there is stays, and so does the current context, unless it is to be used', () => {
  const merged = parse(mergeKubeconfig(stringify(other), entry, how)) as typeof other;
  expect(merged.clusters[0]).toEqual(other.clusters[0]);
  expect(merged.users[0]).toEqual(other.users[0]);
  expect(merged.contexts[0]).toEqual(other.contexts[0]);
  expect(merged.preferences).toEqual(other.preferences);
  expect(merged['current-context']).toBe('other');
  const used = parse(mergeKubeconfig(stringify(other), entry, { ...how, use: true })) as typeof other;
  expect(used['current-context']).toBe('tenants-shop');
});

test('a second time, the credentials are replaced and the namespace of the context stays', () => {
  const once = parse(mergeKubeconfig(stringify(other), entry, how)) as typeof other;
  const inNamespace = once.contexts.map((one) => ({ ...one, context: { ...one.context, namespace: 'mine' } }));
  const text = stringify({ ...once, contexts: inNamespace });
  const twice = parse(mergeKubeconfig(text, { ...entry, user: { token: 'new' } }, how)) as typeof other;
  expect(twice.users).toEqual([other.users[0], { name: 'tenants-shop', user: { token: 'new' } }]);
  expect(twice.contexts[1]?.context).toEqual({ cluster: 'tenants-shop', user: 'tenants-shop', namespace: 'mine' });
});

test('the name of another cluster is refused unless it is to be overwritten', () => {
  const taken = { ...entry, name: 'other' };
  expect(() => mergeKubeconfig(stringify(other), taken, how)).toThrow(
    'the kubeconfig already has a cluster "other" at https://other, and this one is at https://shop:6443: choose another --context-name, or replace it with --overwrite',
  );
  const merged = parse(mergeKubeconfig(stringify(other), taken, { ...how, overwrite: true })) as typeof other;
  expect(merged.clusters).toEqual([{ name: 'other', cluster: entry.cluster }]);
});

describe('without --overwrite, a name that means something else is refused:', () => {
  const own = { name: 'tenants-shop', cluster: { server: 'https://shop:6443' } };
  const user = { name: 'tenants-shop', user: { token: 'of-prod' } };
  const contextOf = (cluster: string, name: string) => ({ name: 'tenants-shop', context: { cluster, user: name } });

  test.each<[string, Partial<Record<'clusters' | 'users' | 'contexts', readonly unknown[]>>, string]>([
    [
      'a context of another cluster, with the user of that',
      { users: [user], contexts: [contextOf('prod', 'tenants-shop')] },
      'context "tenants-shop", of cluster "prod" and user "tenants-shop"',
    ],
    [
      'a context of another user',
      { clusters: [own], contexts: [contextOf('tenants-shop', 'ada')] },
      'context "tenants-shop", of cluster "tenants-shop" and user "ada"',
    ],
    ['a user without the cluster', { users: [user] }, 'user "tenants-shop" of something else'],
    [
      'a user with a cluster without address',
      { users: [user], clusters: [{ name: 'tenants-shop', cluster: {} }] },
      'user "tenants-shop" of something else',
    ],
  ])('%s', (_what, lists, seen) => {
    const text = stringify({ ...other, ...lists });
    expect(() => mergeKubeconfig(text, entry, how)).toThrow(
      `the kubeconfig already has a ${seen}: choose another --context-name, or replace it with --overwrite`,
    );
    const replaced = parse(mergeKubeconfig(text, entry, { ...how, overwrite: true })) as typeof other;
    expect(replaced.users.find(({ name }) => name === 'tenants-shop')?.user).toEqual(entry.user);
    expect(replaced.contexts.find(({ name }) => name === 'tenants-shop')?.context).toMatchObject({
      cluster: 'tenants-shop',
      user: 'tenants-shop',
    });
  });
});

/** As kubectl writes it, with values that a parser reads as something else than they say. */
const written = `# mine
apiVersion: v1
clusters:
- cluster:
    server: https://other # in the cellar
  name: other
CLUSTER
contexts:
- context:
    cluster: other
    user: other
  name: other
CONTEXT
current-context: other
kind: Config
users:
# the old one
- name: other
  user:
    password: 12345678901234567890
    username: 0777
- name: third
  user:
    token: 1e5
- name: fourth
  user:
    password: 'it''s'
    token: yes
    username: 0x1F
- name: fifth
  user:
    client-key-data: LS0tLS1CRUdJTiBFQyBQUklWQVRFIEtFWS0tLS0tCk1IY0NBUUVFSUFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWE=
    password: 1_000.50
    token: ~
    username: 2026-11-26
USER`;

const withEntries = (cluster: string, context: string, user: string): string =>
  written.replace('CLUSTER\n', cluster).replace('CONTEXT\n', context).replace('USER', user);

test('no other byte changes: comments stay, and so do values that look like numbers', () => {
  expect(mergeKubeconfig(withEntries('', '', ''), entry, how)).toBe(
    withEntries(
      '- cluster:\n    server: https://shop:6443\n  name: tenants-shop\n',
      '- context:\n    cluster: tenants-shop\n    user: tenants-shop\n  name: tenants-shop\n',
      '- name: tenants-shop\n  user:\n    token: t\n',
    ),
  );
});

test.each([
  ['indented lists', 'users:\n  - name: other\n    user:\n      password: 0777 # mine\n'],
  ['JSON', '{"users": [{"name": "other", "user": {"password": "0777"}}], "clusters": null, "contexts": []}'],
  ['braces', 'users: [{ name: other, user: { password: 0777 } }]\n'],
  ['Windows line ends', 'users:\r\n- name: other\r\n  user:\r\n    password: 0777\r\n'],
])('a file with %s keeps what it has', (_what, text) => {
  const merged = mergeKubeconfig(text, entry, how);
  const read = parse(merged, { schema: 'failsafe' }) as Pick<typeof other, 'users'>;
  expect(read.users[0]).toEqual({ name: 'other', user: { password: '0777' } });
  expect(readKubeconfig(merged)).toMatchObject({ cluster: 'tenants-shop', access: { token: 't' } });
  expect(mergeKubeconfig(merged, entry, how)).toBe(merged);
});

test('a value that a parser of YAML 1.1 would read as something else is quoted', () => {
  const merged = mergeKubeconfig('', { ...entry, user: { token: '0o7', username: 'yes', password: '1e5' } }, how);
  expect(merged).toContain('password: "1e5"\n    token: "0o7"\n    username: "yes"\n');
});

test('there is no other current context if another file has one, unless it is to be used', () => {
  const current = (options: Partial<typeof how>): unknown =>
    (parse(mergeKubeconfig('', entry, { ...how, ...options })) as Partial<typeof other>)['current-context'];
  expect(current({ hasCurrent: true })).toBeUndefined();
  expect(current({ hasCurrent: true, use: true })).toBe('tenants-shop');
});

test('a file that is no kubeconfig is refused without repeating it', () => {
  for (const text of [
    '[secret-thing',
    'secret-thing',
    '- secret-thing',
    'a: &a secret-thing\nb: *a',
    'a: b\n---\na: c',
  ]) {
    expect(() => mergeKubeconfig(text, entry, how)).toThrow(
      /^the kubeconfig is not (YAML|a map); nothing was written$/,
    );
  }
});

test('merging twice is the same as merging once', () => {
  const name = fc.string({ minLength: 1 });
  fc.assert(
    fc.property(fc.uniqueArray(name, { maxLength: 5 }), name, (others, own) => {
      const clusters = others.map((one) => ({ name: one, cluster: { server: 'https://other' } }));
      const text = stringify({ ...other, clusters });
      const overwrite = { ...how, overwrite: true };
      const once = mergeKubeconfig(text, { ...entry, name: own }, overwrite);
      expect(mergeKubeconfig(once, { ...entry, name: own }, overwrite)).toBe(once);
      const merged = parse(once) as { readonly clusters: readonly { readonly name: string }[] };
      expect(new Set(merged.clusters.map((one) => one.name))).toEqual(new Set([...others, own]));
    }),
  );
});
