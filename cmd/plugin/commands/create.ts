import { Command, Option } from 'commander';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { newestMinor } from '../../../kubeadm/versions.ts';
import { connectManagement } from '../connect/management-cluster.ts';
import { pluginFieldManager } from '../control-plane/change-control-plane.ts';
import { followObject } from '../control-plane/follow-object.ts';
import { wakeProgress } from '../control-plane/sleep-progress.ts';
import { newControlPlane, serviceTypes } from '../create/new-control-plane.ts';
import type { NewControlPlane } from '../create/new-control-plane.ts';
import { listed, wholeNumber, withConnection, withWait } from '../frame/shared-options.ts';
import type { ConnectionOptions, WaitOptions } from '../frame/shared-options.ts';
import type { World } from '../frame/world.ts';
import { objectsText } from '../output/print-objects.ts';

const formats = ['name', 'json', 'yaml'] as const;
type Options = ConnectionOptions &
  WaitOptions &
  NewControlPlane & {
    readonly kubernetesVersion: string;
    readonly dryRun: 'none' | 'client' | 'server';
    readonly output: (typeof formats)[number];
  };

/** `create`: creates a TenantControlPlane. */
export function createCommand(world: World): Command {
  const command = new Command('create')
    .summary('Create a control plane.')
    .description(
      'Creates a TenantControlPlane and shows the progress until it is Ready. With --dry-run=client -o yaml, it only prints the manifest, ' +
        'to be changed and applied. For Cluster API, create a Cluster in place of this.',
    )
    .argument('<name>', 'Name of the control plane.')
    .requiredOption('--kubernetes-version <version>', `Kubernetes version, such as v1.${newestMinor}.0.`)
    .option('--replicas <number>', 'Number of pods.', wholeNumber(0))
    .option('--datastore <name>', 'Name of the DataStore. By default, the manager chooses one.')
    .addOption(
      new Option('--service-type <type>', 'Type of the Service that exposes the API server.')
        .choices(serviceTypes)
        .default('LoadBalancer'),
    )
    .option('--address <address>', 'IP address of the endpoint, if it is not that of the Service.')
    .option('--port <port>', 'Port of the endpoint.', wholeNumber(1))
    .option('--cert-san <names>', 'Additional name or address in the certificate; may be repeated.', listed)
    .option('--pod-cidr <cidr>', 'Network of pods.')
    .option('--service-cidr <cidr>', 'Network of Services.')
    .option('--konnectivity', 'Reach workers through a tunnel that they open.')
    .option('--no-addons', 'Leave out CoreDNS and kube-proxy.')
    .addOption(
      new Option('--dry-run <mode>', 'client: only print it. server: have it checked, but not stored.')
        .choices(['none', 'client', 'server'])
        .default('none'),
    )
    .addOption(new Option('-o, --output <format>', 'Format of the output.').choices(formats).default('name'));
  return withWait(withConnection(command, '10m')).action(async (name: string, options: Options) => {
    const wanted = { ...options, version: options.kubernetesVersion };
    if (options.dryRun === 'client') {
      // Without a cluster there is no context to take the namespace from.
      const manifest = newControlPlane({ name, namespace: options.namespace ?? 'default' }, wanted);
      world.out(objectsText([manifest], options.output, false));
      return;
    }
    await using management = await connectManagement(world, options);
    const { cluster, signal, namespace } = management;
    const manifest = newControlPlane({ name, namespace }, wanted);
    const dryRun = options.dryRun === 'server';
    const created = await cluster.create(tenantControlPlane, manifest, {
      fieldManager: pluginFieldManager,
      signal,
      dryRun,
    });
    world.out(objectsText([created], options.output, false));
    if (dryRun || !options.wait || options.replicas === 0) return;
    await followObject(tenantControlPlane, { namespace, name }, wakeProgress, { management, world });
    world.note(`get access with: kubectl steward kubeconfig -n ${namespace} ${name}`);
  });
}
