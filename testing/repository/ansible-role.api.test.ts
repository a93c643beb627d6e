import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { existsSync } from 'node:fs';
import { appendFile, readFile, stat, symlink } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { parse } from 'yaml';
import type { PlainObject } from '../../e2e/cluster/kubernetes-client.ts';
import { CommandError, runCommand } from '../../e2e/cluster/machines/run-command.ts';
import { consoleBlocks } from '../../e2e/framework/console-blocks.ts';
import { resolveTools } from '../../e2e/tools/resolve.ts';
import type { ServerFolder } from '../servers/server-folder.ts';
import { serverFolder } from '../servers/server-folder.ts';
import type { ManagementWithoutNodes } from '../worlds/management-without-nodes.ts';
import { startManagementWithoutNodes } from '../worlds/management-without-nodes.ts';

const root = join(import.meta.dirname, '../..');
const role = join(root, 'iac/ansible/roles/steward_tenant');
const self = 'testing/repository/ansible-role.api.test.ts';
const shop = {
  apiVersion: 'steward.butlerlabs.dev/v1alpha1',
  kind: 'TenantControlPlane',
  namespace: 'default',
  name: 'shop',
};

let management: ManagementWithoutNodes;
let folder: ServerFolder;
let environment: Readonly<Record<string, string>>;

/** A reader's folder, with the clone's `iac` in it, and the shell's variables. */
beforeAll(async () => {
  const { kubectl } = await resolveTools(['kubectl']);
  [management, folder] = await Promise.all([startManagementWithoutNodes(), serverFolder()]);
  await symlink(join(root, 'iac'), join(folder.path, 'iac'));
  environment = {
    // Debian's own Python has the client; one of pyenv would not.
    PATH: [dirname(kubectl), '/usr/bin', '/bin'].join(delimiter),
    HOME: folder.path,
    KUBECONFIG: management.server.kubeconfigPath,
    LC_ALL: 'C.UTF-8',
    ANSIBLE_HOME: join(folder.path, 'ansible'),
    ANSIBLE_REMOTE_TEMP: join(folder.path, 'ansible', 'remote'),
    ANSIBLE_NOCOLOR: '1',
    ANSIBLE_LOCALHOST_WARNING: 'false',
    ANSIBLE_INVENTORY_UNPARSED_WARNING: 'false',
  };
}, 300_000);

afterAll(async () => {
  await management[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
}, 60_000);

const bash = async (commands: string): Promise<string> => {
  const words = ['--norc', '-euo', 'pipefail', '-c', commands];
  return (await runCommand('bash', words, { env: environment, cwd: folder.path, timeoutMs: 300_000 })).stdout;
};
const playbook = (variables: object): Promise<string> =>
  bash(`ansible-playbook iac/ansible/tenants.yml -e '${JSON.stringify(variables)}'`);
const found = (): Promise<PlainObject | undefined> => management.client.read(shop);

describe('The page about Ansible, followed against a real API server with the real manager', () => {
  const blocks = async (): Promise<readonly string[]> =>
    consoleBlocks(await readFile(join(root, 'docs/how-to', 'ansible.md'), 'utf8'))
      .filter(({ trial }) => trial !== undefined && 'tests' in trial && trial.tests.includes(self))
      .map(({ commands }) => commands);

  test('creates a tenant, waits until it is ready, and fetches a kubeconfig that opens it', async () => {
    const [write = '', create = '', use = ''] = await blocks();
    await bash(write);
    // Control planes are at loopback addresses here, which no EndpointSlice may have.
    const file = join(folder.path, 'my-tenants.yml');
    const deployment = '{ extraArgs: { apiServer: [--endpoint-reconciler-type=none] } }';
    await appendFile(file, `      controlPlane: { deployment: ${deployment} }\n`);
    expect(await bash(create)).toMatch(/changed=2 +unreachable=0 +failed=0/);
    expect((await found())?.status?.conditions).toContainEqual(
      expect.objectContaining({ type: 'Ready', status: 'True' }),
    );
    expect((await stat(join(folder.path, 'shop.conf'))).mode & 0o777).toBe(0o600);
    expect(await bash(use)).toMatch(/^kube-system +Active/m);
  }, 400_000);

  test('changes nothing when nothing differs', async () => {
    expect(await bash('ansible-playbook iac/ansible/tenants.yml -e @my-tenants.yml')).toMatch(
      /changed=0 +unreachable=0 +failed=0/,
    );
  }, 400_000);

  test('changes what differs, and waits for that', async () => {
    const [, , , change = ''] = await blocks();
    expect(await bash(change)).toMatch(/changed=1 +unreachable=0 +failed=0/);
    const { spec, status, metadata } = (await found()) ?? {};
    expect(spec).toMatchObject({ controlPlane: { deployment: { replicas: 1 } } });
    expect(status).toMatchObject({ observedGeneration: metadata?.generation });
  }, 400_000);

  test('removes the tenant and the kubeconfig', async () => {
    const [, , , , remove = ''] = await blocks();
    expect(await bash(remove)).toMatch(/failed=0/);
    expect(await found()).toBeUndefined();
    expect(existsSync(join(folder.path, 'shop.conf'))).toBe(false);
    expect(await bash('ansible-playbook iac/ansible/tenants.yml -e @my-tenants.yml')).toMatch(/changed=0/);
  }, 400_000);
});

describe('The role for tenants', () => {
  const failure = async (variables: object): Promise<string> => {
    const error: unknown = await playbook(variables).catch((caught: unknown) => caught);
    if (!(error instanceof CommandError)) throw new Error('the playbook did not fail');
    return error.output.stdout;
  };

  test('shows what a webhook refuses', async () => {
    const tenants = [{ name: 'old', kubernetes_version: 'v1.36.3', spec: { dataStore: 'nowhere' } }];
    expect(await failure({ tenants })).toMatch(/Apply the TenantControlPlane[^]*nowhere/);
  }, 400_000);

  test('says what the control plane waits for when it has waited long enough', async () => {
    // No load balancer gives it an address here.
    const tenants = [{ name: 'waiting', kubernetes_version: 'v1.36.3' }];
    expect(await failure({ tenants, steward_tenant_retries: 1, steward_tenant_delay: 1 })).toMatch(
      /default\/waiting is not ready: \w+: \S/,
    );
  }, 400_000);

  test('puts a tenant to sleep, and returns when it sleeps', async () => {
    const tenants = [{ name: 'asleep', kubernetes_version: 'v1.36.3', replicas: 0, service_type: 'ClusterIP' }];
    expect(await playbook({ tenants })).toMatch(/failed=0/);
  }, 400_000);

  test('describes each of its variables, with the default that it has', async () => {
    const read = async (file: string): Promise<unknown> => parse(await readFile(join(role, file), 'utf8')) as unknown;
    const specs = (await read('meta/argument_specs.yml')) as {
      argument_specs: { main: { options: Readonly<Record<string, { default?: unknown }>> } };
    };
    const { options } = specs.argument_specs.main;
    const defaults = (await read('defaults/main.yml')) as Readonly<Record<string, unknown>>;
    expect(Object.keys(options).sort()).toEqual(['steward_tenant_name', ...Object.keys(defaults)].sort());
    for (const [name, { default: told }] of Object.entries(options)) {
      if (name === 'steward_tenant_name' || name === 'steward_tenant_management') continue;
      expect([name, told]).toEqual([name, defaults[name]]);
    }
    const page = await readFile(join(root, 'docs/how-to/ansible.md'), 'utf8');
    for (const name of Object.keys(options)) expect(page).toContain(`\`${name}\``);
  });
});
