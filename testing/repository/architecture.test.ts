import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

const root = join(import.meta.dirname, '../..');

/** One planted violation for each rule: the file, and the line that breaks the rule. */
const violations: Readonly<Record<string, readonly (readonly [file: string, line: string])[]>> = {
  'no-cycles': [
    ['runtime/a.ts', "import { b } from './b.ts'; export const a = () => b;"],
    ['runtime/b.ts', "import { a } from './a.ts'; export const b = () => a;"],
  ],
  'api-is-a-leaf': [['api/x.ts', "import '../runtime/a.ts';"]],
  'runtime-knows-no-kind': [['runtime/x.ts', "import '../api/steward/kind.ts';"]],
  'kubeadm-is-below': [['kubeadm/x.ts', "import '../runtime/a.ts';"]],
  'kubeadm-is-pure': [['kubeadm/y.ts', "import 'node:fs';"]],
  'components-are-pure': [['controllers/one/components/x.ts', "import 'node:net';"]],
  'concerns-are-pure': [
    ['controllers/tenantcontrolplane/endpoint/x.ts', "import '../../../runtime/a.ts';"],
    ['controllers/tenantcontrolplane/datastore/migration/x.ts', "import '../../../../stores/x.ts';"],
  ],
  'addons-do-not-import-each-other': [['controllers/tenantcontrolplane/addons/a/x.ts', "import '../b/x.ts';"]],
  'shared-is-below': [['controllers/tenantcontrolplane/shared/x.ts', "import '../upgrade/x.ts';"]],
  'sleep-is-below': [['controllers/tenantcontrolplane/sleep/x.ts', "import '../upgrade/x.ts';"]],
  'upgrade-is-below': [['controllers/tenantcontrolplane/upgrade/x.ts', "import '../certificates/x.ts';"]],
  'certificates-is-below': [['controllers/tenantcontrolplane/certificates/x.ts', "import '../datastore/x.ts';"]],
  'datastore-is-below': [['controllers/tenantcontrolplane/datastore/x.ts', "import '../workload/x.ts';"]],
  'encryption-is-below': [['controllers/tenantcontrolplane/encryption/x.ts', "import '../configuration/x.ts';"]],
  'configuration-is-below': [['controllers/tenantcontrolplane/configuration/x.ts', "import '../workload/x.ts';"]],
  'workload-is-below': [['controllers/tenantcontrolplane/workload/x.ts', "import '../endpoint/x.ts';"]],
  'endpoint-is-below': [['controllers/tenantcontrolplane/endpoint/y.ts', "import '../tenant/x.ts';"]],
  'tenant-is-below': [['controllers/tenantcontrolplane/tenant/x.ts', "import '../adoption/x.ts';"]],
  'quota-is-below': [['controllers/tenantcontrolplane/quota/x.ts', "import '../monitoring/x.ts';"]],
  'monitoring-is-below': [['controllers/tenantcontrolplane/monitoring/x.ts', "import '../adoption/x.ts';"]],
  'adoption-is-below': [['controllers/tenantcontrolplane/adoption/x.ts', "import '../addons/b/x.ts';"]],
  'stores-are-below-kinds': [['stores/x.ts', "import '../controllers/one/kind.ts';"]],
  'tenants-are-below-kinds': [['tenants/x.ts', "import '../stores/x.ts';"]],
  'sources-are-below-kinds': [['clusterstacks/sources/x.ts', "import '../../stores/etcd/x.ts';"]],
  'cluster-stacks-are-an-option': [['controllers/one/u.ts', "import '../../clusterstacks/controllers/three/x.ts';"]],
  'kinds-do-not-import-each-other': [['controllers/two/x.ts', "import '../one/kind.ts';"]],
  'tenants-know-no-parent': [
    ['controllers/tenantcontrolplane/shared/y.ts', "import '../../../api/controlplane/kind.ts';"],
    ['controllers/retainedcontrolplane/x.ts', "import '../../api/cluster-api/kinds.ts';"],
  ],
  'drivers-do-not-import-each-other': [['stores/nats/x.ts', "import '../etcd/x.ts';"]],
  'drivers-arrive-by-argument': [['controllers/one/y.ts', "import '../../stores/etcd/x.ts';"]],
  'sources-do-not-import-each-other': [['clusterstacks/sources/github/x.ts', "import '../oci/x.ts';"]],
  'sources-arrive-by-argument': [
    ['clusterstacks/controllers/three/v.ts', "import '../../sources/oci/x.ts';"],
    ['clusterstacks/sources/w.ts', "import './oci/x.ts';"],
  ],
  'one-place-per-wire': [
    ['controllers/one/z.ts', "import 'etcd3';"],
    ['controllers/one/s3.ts', "import '@aws-sdk/client-s3';"],
  ],
  'one-door-to-the-network': [['controllers/one/w.ts', "import 'node:https';"]],
  'cmd-is-the-top': [['runtime/y.ts', "import '../cmd/x.ts';"]],
  'commands-load-what-they-need': [['cmd/steward.ts', "import './x.ts';"]],
  'the-activator-is-small': [['cmd/activator/activator.ts', "import '../../tenants/z.ts';"]],
  'tests-stay-in-tests': [['runtime/z.ts', "import '../testing/x.ts';"]],
  'e2e-is-a-user': [['e2e/x.ts', "import '../runtime/a.ts';"]],
  'release-packs-what-is-built': [['release/x.ts', "import '../runtime/a.ts';"]],
  'client-node-is-narrowed': [['runtime/w.ts', "import '@kubernetes/client-node';"]],
  'forge-only-reads-in-tests': [['kubeadm/z.ts', "import 'node-forge';"]],
};

/** Files that the planted ones point at and that break nothing themselves. */
const innocent = {
  'api/steward/kind.ts': 'export const kind = 1;',
  'api/controlplane/kind.ts': 'export const kind = 1;',
  'api/cluster-api/kinds.ts': 'export const kind = 1;',
  'api/cluster-api/names.ts': 'export const name = 1;',
  'controllers/tenantcontrolplane/shared/z.ts': "import '../../../api/cluster-api/names.ts';",
  'controllers/one/kind.ts': 'export const kind = 1;',
  'stores/etcd/x.ts': 'export const x = 1;',
  'clusterstacks/api/x.ts': 'export const x = 1;',
  'clusterstacks/sources/oci/x.ts': "import 'node:https'; import 'node:child_process'; import '../interface.ts';",
  'clusterstacks/sources/interface.ts': 'export const x = 1;',
  'clusterstacks/controllers/three/x.ts': "import '../../sources/interface.ts';",
  'clusterstacks/controllers/three/components/y.ts': "import '../../../sources/interface.ts';",
  'controllers/one/t.ts': "import '../../clusterstacks/api/x.ts';",
  'controllers/tenantcontrolplane/endpoint/x-phase.ts': "import '../../../runtime/a.ts';",
  'controllers/tenantcontrolplane/tenant/tenant-access.ts': "import '../../../runtime/a.ts';",
  'controllers/tenantcontrolplane/addons/addon.ts': 'export const x = 1;',
  'controllers/tenantcontrolplane/addons/b/x.ts': "import '../addon.ts';",
  'controllers/tenantcontrolplane/addons/c.ts': "import '../shared/z.ts'; import '../adoption/x.ts';",
  'controllers/tenantcontrolplane/recipe.ts': "import './addons/b/x.ts'; import './shared/z.ts';",
  'cmd/x.ts': 'export const x = 1;',
  'tenants/z.ts': "import '../kubeadm/y.ts';",
  'testing/x.ts': 'export const x = 1;',
};

describe('The rules for imports', () => {
  let folder = '';
  let fired: Readonly<Record<string, readonly string[]>> = {};

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'rooms-'));
    const files = [...Object.entries(innocent), ...Object.values(violations).flat()];
    for (const [file, text] of files) {
      await mkdir(dirname(join(folder, file)), { recursive: true });
      await writeFile(join(folder, file), `${text}\n`);
    }
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
    await writeFile(join(folder, 'tsconfig.json'), '{ "compilerOptions": { "module": "nodenext" } }');
    fired = await violationsIn(folder);
  }, 60_000);

  afterAll(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  test.each(Object.entries(violations))('%s fires on a planted violation', (rule, planted) => {
    expect(fired[rule]).toEqual(
      expect.arrayContaining(planted.slice(0, rule === 'no-cycles' ? 1 : undefined).map(([file]) => file)),
    );
  });

  test.each(Object.keys(innocent))('No rule fires on %s, which violates none', (file) => {
    expect(Object.entries(fired).filter(([, from]) => from.includes(file))).toEqual([]);
  });

  test('Every configured rule has a planted violation', async () => {
    const file = '../../.dependency-cruiser.mjs';
    const config: unknown = await import(file);
    const names = (config as { default: { forbidden: { name: string }[] } }).default.forbidden.map(({ name }) => name);
    expect(Object.keys(violations).sort()).toEqual(names.sort());
  });
});

async function violationsIn(cwd: string): Promise<Record<string, string[]>> {
  const bin = join(root, 'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs');
  const rooms = [
    'api',
    'runtime',
    'kubeadm',
    'stores',
    'clusterstacks',
    'tenants',
    'controllers',
    'cmd',
    'release',
    'e2e',
  ];
  const args = [bin, '--config', join(root, '.dependency-cruiser.mjs'), '--output-type', 'json', ...rooms];
  // The exit code counts the violations, which are the expected outcome here: only the output is read.
  const output = await new Promise<string>((resolve) => {
    execFile(process.execPath, args, { cwd, maxBuffer: 64 * 1024 * 1024 }, (_error, stdout) => {
      resolve(stdout);
    });
  });
  const report = JSON.parse(output) as { summary: { violations: { from: string; rule: { name: string } }[] } };
  const result: Record<string, string[]> = {};
  for (const { from, rule } of report.summary.violations) (result[rule.name] ??= []).push(from);
  return result;
}
