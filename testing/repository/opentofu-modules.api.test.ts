import { beforeAll, describe, expect, test } from '@jest/globals';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crd } from '../../api/generate/crd.ts';
import { dataStore } from '../../api/steward/v1alpha1/data-store.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { runCommand } from '../../e2e/cluster/machines/run-command.ts';
import { kubernetesReleases } from '../../e2e/tools/kubernetes-releases.ts';
import { resolveTools } from '../../e2e/tools/resolve.ts';

const root = join(import.meta.dirname, '../..');
const modules = ['steward', 'datastore', 'tenant'];
const examples = ['examples/install', 'examples/tenants'];

/** What HashiCorp's own reader of such modules says of one. */
interface Module {
  readonly variables: Readonly<Record<string, Variable>>;
  readonly outputs: Readonly<Record<string, { readonly description?: string }>>;
  readonly required_providers: Readonly<
    Record<string, { readonly source?: string; readonly version_constraints?: readonly string[] }>
  >;
  readonly managed_resources: Readonly<Record<string, unknown>>;
  readonly module_calls: Readonly<Record<string, { readonly source: string }>>;
  readonly diagnostics?: readonly unknown[];
}

interface Variable {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly required: boolean;
}

const read = new Map<string, Module>();
const moduleAt = (folder: string): Module => read.get(folder) ?? ({} as Module);
const text = (file: string): Promise<string> => readFile(join(root, file), 'utf8');

beforeAll(async () => {
  const { 'terraform-config-inspect': program } = await resolveTools(['terraform-config-inspect']);
  for (const folder of [...modules, ...examples]) {
    const { stdout } = await runCommand(program, ['--json', join(root, 'iac/opentofu', folder)]);
    read.set(folder, JSON.parse(stdout) as Module);
  }
}, 120_000);

describe.each([...modules, ...examples])('The configuration iac/opentofu/%s', (folder) => {
  test('is read without a diagnostic', () => {
    expect(moduleAt(folder).diagnostics ?? []).toEqual([]);
  });

  test('describes every variable with its type, and every output', () => {
    const { variables, outputs } = moduleAt(folder);
    for (const variable of Object.values(variables)) {
      expect(variable).toEqual(expect.objectContaining({ type: expect.any(String), description: expect.any(String) }));
    }
    for (const output of Object.values(outputs)) expect(output.description).toMatch(/\.$/);
  });

  test('says where its providers come from', () => {
    for (const { source, version_constraints: versions = [] } of Object.values(moduleAt(folder).required_providers)) {
      expect(source).toMatch(/^hashicorp\/(kubernetes|helm)$/);
      expect(versions).toHaveLength(1);
    }
  });

  test('calls only modules that exist', () => {
    for (const { source } of Object.values(moduleAt(folder).module_calls)) {
      expect(existsSync(join(root, 'iac/opentofu', folder, source, 'main.tf'))).toBe(true);
    }
  });
});

describe('The module for tenants', () => {
  test('has the variables and defaults that its page lists', async () => {
    const { variables } = moduleAt('tenant');
    const page = await text('docs/how-to/opentofu.md');
    const rows = page.split('\n').filter((line) => line.startsWith('| `') && line.split('|').length === 5);
    const listed = rows.flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`(\w+)`/g)].map(([, name]) => name));
    expect(listed.filter((name) => name !== 'steward' && name !== 'datastore' && name !== 'tenant').sort()).toEqual(
      Object.keys(variables).sort(),
    );
    for (const [name, { default: told }] of Object.entries(variables)) {
      if (typeof told !== 'string' && typeof told !== 'number') continue;
      const row = rows.find((line) => line.startsWith(`| \`${name}\` |`));
      expect([name, row?.split('|')[2]?.trim()]).toEqual([name, `\`${told}\``]);
    }
  });

  test('creates the newest Kubernetes unless another version is given', () => {
    expect(moduleAt('tenant').variables.kubernetes_version?.default).toBe(kubernetesReleases[0].version);
  });

  test('waits for states that a tenant has', async () => {
    const main = await text('iac/opentofu/tenant/main.tf');
    const definition = JSON.stringify(crd(tenantControlPlane));
    for (const [, state = ''] of main.matchAll(/"\^(\w+)\$"/g)) expect(definition).toContain(JSON.stringify(state));
    expect(main.match(/"\^\w+\$"/g)).toHaveLength(2);
  });
});

test.each([
  ['tenant', tenantControlPlane],
  ['datastore', dataStore],
] as const)('the module %s creates an object of a kind of Steward', async (folder, kind) => {
  const main = await text(`iac/opentofu/${folder}/main.tf`);
  expect(main).toMatch(new RegExp(`apiVersion = "${kind.group}/v1alpha1"\\n +kind += "${kind.kind}"`));
  expect(Object.keys(moduleAt(folder).managed_resources)).toEqual([`kubernetes_manifest.${folder}`]);
});
