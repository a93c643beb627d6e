import { mkdir, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { expect, test } from '@jest/globals';
import { PluginWorld } from '../../../testing/worlds/plugin-world.ts';

const configOf = (name: string, user: string, current = name): string => `
current-context: ${current}
clusters: [{ name: ${name}, cluster: { server: "https://${name}.test", certificate-authority: ca.pem } }]
users: [{ name: ${name}, user: ${user} }]
contexts: [{ name: ${name}, context: { cluster: ${name}, user: ${name} } }]
`;
const pem = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n';

/** Two kubeconfigs in folders of their own, each with a file that it names by a relative path. */
async function twoFiles(world: PluginWorld): Promise<string> {
  const paths = ['one', 'two'].map((name) => join(world.folder, name, 'config'));
  for (const [index, path] of paths.entries()) {
    const name = index === 0 ? 'one' : 'two';
    await mkdir(join(path, '..'));
    await writeFile(join(path, '..', 'ca.pem'), `${pem}# ${name}`);
    await writeFile(path, configOf(name, `{ token: of-${name} }`));
  }
  return paths.join(delimiter);
}

const reached = ({ connections }: PluginWorld) =>
  connections.map(([, { server, token, ca }]) => [server, token, ca?.slice(-5)]);

test('the files of $KUBECONFIG are merged: the first current context counts, and paths are relative to their file', async () => {
  await using first = await PluginWorld.create();
  const KUBECONFIG = await twoFiles(first);
  await using world = await PluginWorld.create({ environment: { KUBECONFIG } });
  await world.run('get');
  await world.run('get --context two');
  expect(reached(world)).toEqual([
    ['https://one.test', 'of-one', '# one'],
    ['https://two.test', 'of-two', '# two'],
  ]);
});

test('a context that does not exist is refused with those that do', async () => {
  await using world = await PluginWorld.create();
  const { code, notes } = await world.run('get --context other');
  expect(notes).toEqual(['kubectl steward: kubeconfig: there is no context "other"; it has test']);
  expect(code).toBe(1);
});

test('a kubeconfig that was named has to exist', async () => {
  await using world = await PluginWorld.create();
  const { code, notes } = await world.run('get --kubeconfig /nowhere/config');
  expect(notes).toEqual([
    expect.stringMatching(/^kubectl steward: kubeconfig \/nowhere\/config: cannot be read: ENOENT/),
  ]);
  expect(code).toBe(1);
});

test('without a kubeconfig the message says how to name one', async () => {
  await using world = await PluginWorld.create({ environment: { KUBECONFIG: '/nowhere/config' } });
  expect((await world.run('get')).notes).toEqual([
    'kubectl steward: there is no kubeconfig: set --kubeconfig, --context or $KUBECONFIG, or run kubectl config use-context',
  ]);
});

test.each([
  ['as-groups: [admins]', 'as-groups: impersonated groups'],
  ['as-uid: "7"', 'as-uid: impersonated UIDs'],
  ['as-user-extra: { scope: [a] }', 'as-user-extra: impersonated users'],
])('%s without a user is refused, as kubectl does, and not left out', async (field, reason) => {
  const kubeconfig = configOf('one', `{ token: x, ${field} }`).replace(', certificate-authority: ca.pem', '');
  await using world = await PluginWorld.create({ kubeconfig });
  const { code, notes } = await world.run('get');
  expect(notes.join()).toContain(`user "one": ${reason} are not supported`);
  expect({ code, connections: world.connections }).toEqual({ code: 1, connections: [] });
});

test('empty impersonation fields are ignored', async () => {
  const user = '{ token: x, as: "", as-groups: [], as-user-extra: {} }';
  const kubeconfig = configOf('one', user).replace(', certificate-authority: ca.pem', '');
  await using world = await PluginWorld.create({ kubeconfig });
  expect((await world.run('get')).code).toBe(0);
});

test.each([
  ['clusters: [{ name: a', /kubeconfig \S*config: not YAML at line \d+ \([A-Z_]+\)$/],
  [
    'users: [&a { name: x, user: { token: secret-thing } }, *a]',
    /config: YAML with aliases; write each entry in full$/,
  ],
  ['- a\n', /config: not a map; expected kind: Config$/],
  ['clusters: none', /config: clusters is not a list$/],
  ['users: [{ user: { token: secret-thing } }]', /config: users\[0\] has no name$/],
  ['contexts: [{ name: a, context: b }]', /config: contexts\[0\] "a": context is not a map$/],
  [
    'users: [{ name: a, user: { token: secret-thing } }, { name: a, user: { token: x } }]',
    /config: users has two entries named "a"; kubectl refuses that, too$/,
  ],
])(
  'a kubeconfig that kubectl cannot read is refused with the place, and without its content: %j',
  async (text, reason) => {
    await using world = await PluginWorld.create({ kubeconfig: text });
    const { code, notes } = await world.run('get');
    expect(notes.join()).toMatch(reason);
    expect(notes.join()).not.toContain('secret-thing');
    expect(code).toBe(1);
  },
);

const exec =
  '{ exec: { apiVersion: client.authentication.k8s.io/v1, command: login, args: [get-token], env: [{ name: REGION, value: x }], provideClusterInfo: true } }';
const execConfig = configOf('one', exec).replace(', certificate-authority: ca.pem', '');

test('credentials come from the program that the kubeconfig names', async () => {
  const programs: unknown[] = [];
  await using world = await PluginWorld.create({
    kubeconfig: execConfig,
    credentials: (program) => {
      programs.push(program);
      return JSON.stringify({ kind: 'ExecCredential', status: { token: 'fresh' } });
    },
  });
  expect((await world.run('get')).code).toBe(0);
  expect(reached(world)).toEqual([['https://one.test', 'fresh', undefined]]);
  expect(programs).toEqual([
    {
      command: 'login',
      args: ['get-token'],
      environment: {
        REGION: 'x',
        KUBERNETES_EXEC_INFO: JSON.stringify({
          apiVersion: 'client.authentication.k8s.io/v1',
          kind: 'ExecCredential',
          spec: { interactive: false, cluster: { server: 'https://one.test' } },
        }),
      },
    },
  ]);
});

test('impersonation beside a credential program is refused, not ignored', async () => {
  await using world = await PluginWorld.create({
    kubeconfig: execConfig.replace('{ exec:', '{ as: auditor, exec:'),
    credentials: () => JSON.stringify({ kind: 'ExecCredential', status: { token: 'fresh' } }),
  });
  const { code, notes } = await world.run('get');
  expect(notes.join()).toMatch(/user "one": as: impersonated users are not supported/);
  expect({ code, connections: world.connections }).toEqual({ code: 1, connections: [] });
});

test.each(['', 'token: secret-thing', '{"kind":"ExecCredential","status":{"secret":"secret-thing"}}'])(
  'what a credential program printed is not repeated: %j',
  async (printed) => {
    await using world = await PluginWorld.create({ kubeconfig: execConfig, credentials: () => printed });
    const { code, notes } = await world.run('get');
    expect(code).toBe(1);
    expect(notes.join()).toMatch(
      /exec: the program printed no ExecCredential with a token or a client certificate; run it/,
    );
    expect(notes.join()).not.toContain('secret-thing');
  },
);

test('an interrupt is exit code 130', async () => {
  const signal = AbortSignal.abort(new Error('interrupted (SIGINT)'));
  await using world = await PluginWorld.create({ signal });
  const { code, notes } = await world.run('get');
  expect({ code, notes }).toEqual({
    code: 130,
    notes: ['kubectl steward: interrupted; what was requested stays requested'],
  });
});
