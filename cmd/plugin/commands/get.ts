import { Command } from 'commander';
import { stewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { connectManagement } from '../connect/management-cluster.ts';
import { findControlPlane, orNothing } from '../control-plane/find-control-plane.ts';
import { withConnection, withOutput } from '../frame/shared-options.ts';
import type { ConnectionOptions, OutputOptions } from '../frame/shared-options.ts';
import type { World } from '../frame/world.ts';
import { controlPlaneRows } from '../get/control-plane-row.ts';
import type { ControlPlaneRow } from '../get/control-plane-row.ts';
import { age } from '../output/age.ts';
import { objectsText } from '../output/print-objects.ts';
import { table } from '../output/table.ts';
import type { TableColumn, Tone } from '../output/table.ts';

type Options = ConnectionOptions & OutputOptions & { readonly allNamespaces?: boolean; readonly selector?: string };

const tones: Readonly<Record<ControlPlaneRow['ready'], Tone>> = { True: 'good', False: 'bad', Unknown: 'changing' };

const columns = (now: Date, allNamespaces: boolean): readonly TableColumn<ControlPlaneRow>[] => [
  ...(allNamespaces ? [{ title: 'NAMESPACE', value: (row: ControlPlaneRow) => row.namespace }] : []),
  { title: 'NAME', value: ({ name }) => name },
  { title: 'VERSION', value: ({ version }) => version },
  { title: 'PODS', value: ({ pods }) => pods },
  { title: 'ENDPOINT', value: ({ endpoint }) => endpoint },
  { title: 'DATASTORE', value: ({ dataStore }) => dataStore },
  { title: 'READY', value: ({ ready }) => ready, tone: ({ ready }) => tones[ready] },
  { title: 'REASON', value: ({ reason }) => reason },
  { title: 'AGE', value: ({ created }) => age(created, now) },
  {
    title: 'ASLEEP',
    wide: true,
    value: ({ asleep }) =>
      asleep === undefined
        ? ''
        : [asleep.reason, ...(asleep.since === undefined ? [] : [age(asleep.since, now)])].join(' '),
  },
  { title: 'CLUSTER', wide: true, value: ({ cluster }) => cluster },
  { title: 'KIND', wide: true, value: ({ object }) => object.kind },
  { title: 'MESSAGE', wide: true, value: ({ message }) => message },
];

/** `get`: lists control planes. */
export function getCommand(world: World): Command {
  const command = new Command('get')
    .summary('List control planes, or show one.')
    .description(
      'Lists control planes: TenantControlPlanes, and StewardControlPlanes whose TenantControlPlane is on a hosting cluster. ' +
        'A name is that of a TenantControlPlane, a StewardControlPlane or a Cluster. ' +
        'VERSION is the installed version, with the wanted one in brackets if it is another. ' +
        'ASLEEP, with -o wide, is the reason of the condition Asleep of one that sleeps, and for how long it has.',
    )
    .argument('[name]', 'Name of a control plane.')
    .option('-A, --all-namespaces', 'List those of all namespaces.')
    .option('-l, --selector <labels>', 'List those with these labels.');
  return withOutput(withConnection(command)).action(async (name: string | undefined, options: Options) => {
    await using management = await connectManagement(world, options);
    const { cluster, signal, namespace } = management;
    const rows = await (async (): Promise<readonly ControlPlaneRow[]> => {
      if (name !== undefined) {
        const { tenant, parent } = await findControlPlane(name, management);
        return controlPlaneRows(tenant === undefined ? [] : [tenant], parent === undefined ? [] : [parent]);
      }
      const where = {
        ...(options.allNamespaces !== true && { namespace }),
        ...(options.selector !== undefined && { labelSelector: options.selector }),
        signal,
      };
      const [tenants, parents] = await Promise.all([
        cluster.list(tenantControlPlane, where),
        orNothing(cluster.list(stewardControlPlane, where)),
      ]);
      return controlPlaneRows(tenants.items, parents.items);
    })();
    if (options.output === 'table' || options.output === 'wide') {
      if (rows.length === 0) {
        const place = options.allNamespaces === true ? 'in any namespace' : `in namespace ${namespace}`;
        world.note(`no control planes found ${place}`);
        return;
      }
      const shown = columns(world.clock.now(), options.allNamespaces === true);
      world.out(table(rows, shown, { wide: options.output === 'wide', colors: world.colors }));
      return;
    }
    const objects = rows.map(({ object }) => object);
    world.out(objectsText(objects, options.output, name === undefined));
  });
}
