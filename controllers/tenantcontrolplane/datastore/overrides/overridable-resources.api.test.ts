import { expect, test } from '@jest/globals';
import { openCluster } from '../../../../runtime/client/http-cluster.ts';
import { parseKubeconfig } from '../../../../runtime/client/kubeconfig.ts';
import { startApiServer } from '../../../../testing/servers/api-server.ts';
import { overridableResources } from './overridable-resources.ts';

interface Discovered {
  readonly resources: readonly { readonly name: string; readonly verbs: readonly string[] }[];
}

/** Served by kube-apiserver, but stored by parts of it that ignore the flag, or with another resource. */
const storedElsewhere = new Set([
  'apiextensions.k8s.io/customresourcedefinitions',
  'apiregistration.k8s.io/apiservices',
  'events.k8s.io/events',
]);

/** Every resource that can be followed, which only what is stored can. */
async function stored(kubernetes: string): Promise<ReadonlySet<string>> {
  await using server = await startApiServer({ kubernetes, flags: { 'runtime-config': 'api/all=true' } });
  const cluster = openCluster(parseKubeconfig(server.kubeconfig), { name: 'tenant' });
  try {
    const { groups } = JSON.parse(await cluster.text('/apis')) as {
      readonly groups: readonly { readonly versions: readonly { readonly groupVersion: string }[] }[];
    };
    const versions = groups.flatMap((group) => group.versions.map(({ groupVersion }) => groupVersion));
    const lists = await Promise.all(
      ['/api/v1', ...versions.map((version) => `/apis/${version}`)].map(async (path) => {
        const { resources } = JSON.parse(await cluster.text(path)) as Discovered;
        const group = path === '/api/v1' ? '' : (path.split('/')[2] ?? '');
        return resources.filter(({ verbs }) => verbs.includes('watch')).map(({ name }) => `${group}/${name}`);
      }),
    );
    return new Set(lists.flat());
  } finally {
    await cluster.close();
  }
}

test.each(['1.34', '1.35', '1.36'])(
  'every resource that kube-apiserver %s stores can be overridden, and no other',
  async (kubernetes) => {
    const served = await stored(kubernetes);
    const known = new Set(overridableResources());
    expect([...served].filter((resource) => !known.has(resource)).sort()).toEqual([...storedElsewhere].sort());
    expect([...served].filter((resource) => known.has(resource)).length).toBeGreaterThan(50);
  },
  // A minor that was not used before is built first.
  600_000,
);
