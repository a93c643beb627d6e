import { writeFile } from 'node:fs/promises';
import { Command } from 'commander';
import { counted } from '../../../api/counted.ts';
import { stewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { packArchive } from '../../../clusterstacks/cmd/stack/archive.ts';
import { version } from '../../version.ts';
import { connectManagement } from '../connect/management-cluster.ts';
import type { ManagementCluster } from '../connect/management-cluster.ts';
import { findControlPlane, orNothing } from '../control-plane/find-control-plane.ts';
import type { ControlPlane } from '../control-plane/find-control-plane.ts';
import { wholeNumber, withConnection } from '../frame/shared-options.ts';
import type { ConnectionOptions } from '../frame/shared-options.ts';
import type { World } from '../frame/world.ts';
import { oneLine } from '../output/one-line.ts';
import { BundleFiles } from '../support-bundle/bundle-files.ts';
import { collectControlPlane } from '../support-bundle/collect-control-plane.ts';
import { collectManager } from '../support-bundle/collect-manager.ts';

type Options = ConnectionOptions & {
  readonly allNamespaces?: boolean;
  readonly file?: string;
  readonly logs: boolean;
  readonly lines: number;
};

/** `support-bundle`: collects what is needed to find a cause. */
export function supportBundleCommand(world: World): Command {
  const command = new Command('support-bundle')
    .summary('Collect objects, conditions, Events and logs in an archive, without secrets.')
    .description(
      'Writes a .tar.gz with the objects, conditions, Events and logs of control planes and of the manager. Values of Secrets are not ' +
        'read; keys, tokens and passwords in what is read are replaced. Look through it before you send it: names, addresses and ' +
        'whatever else programs have logged are in it.',
    )
    .argument('[name]', 'Name of a control plane. Without it, all in the namespace.')
    .option('-A, --all-namespaces', 'Include those of all namespaces.')
    .option('-f, --file <path>', 'File to write. Defaults to steward-support-<time>.tar.gz.')
    .option('--lines <number>', 'Number of lines to read of each log.', wholeNumber(1), 5000)
    .option('--no-logs', 'Leave out logs.');
  return withConnection(command, '10m').action(async (name: string | undefined, options: Options) => {
    await using management = await connectManagement(world, options);
    const { cluster, signal, namespace } = management;
    const files = new BundleFiles(world.signal);
    const reading = { cluster, signal, lines: options.lines, logs: options.logs };
    const planes =
      name === undefined
        ? await allPlanes(management, options.allNamespaces === true ? undefined : namespace)
        : [await findControlPlane(name, management)];
    world.note('collecting what concerns the manager');
    await collectManager(files, reading);
    for (const [index, plane] of planes.entries()) {
      world.note(`collecting ${plane.namespace}/${plane.name} (${index + 1} of ${planes.length})`);
      await collectControlPlane(files, plane, reading);
    }
    const now = world.clock.now().toISOString();
    await files.addText(
      'about.txt',
      `Collected at ${now} by kubectl steward ${version}: ${counted(planes.length, 'control plane')}.\n`,
    );
    const path = options.file ?? `steward-support-${now.replaceAll(/[-:]|\.\d+/g, '')}.tar.gz`;
    await writeFile(path, packArchive(files.all(), 'files-only'), { mode: 0o600 });
    world.out(`${path}\n`);
    for (const problem of files.problems) world.note(`missing: ${oneLine(problem)}`);
  });
}

async function allPlanes(
  { cluster, signal }: ManagementCluster,
  namespace: string | undefined,
): Promise<readonly ControlPlane[]> {
  const where = { ...(namespace !== undefined && { namespace }), signal };
  const [tenants, parents] = await Promise.all([
    cluster.list(tenantControlPlane, where),
    orNothing(cluster.list(stewardControlPlane, where)),
  ]);
  const byUid = new Map(parents.items.map((parent) => [parent.metadata.uid, parent]));
  const local = tenants.items.map((tenant): ControlPlane => {
    const parent = (tenant.metadata.ownerReferences ?? [])
      .map(({ uid }) => byUid.get(uid))
      .find((one) => one !== undefined);
    if (parent !== undefined) byUid.delete(parent.metadata.uid);
    const { name, namespace: place } = tenant.metadata;
    return { name, namespace: place, tenant, ...(parent !== undefined && { parent }) };
  });
  const elsewhere = [...byUid.values()].map((parent): ControlPlane => {
    const { name, namespace: place } = parent.metadata;
    return { name, namespace: place, parent };
  });
  return [...local, ...elsewhere];
}
