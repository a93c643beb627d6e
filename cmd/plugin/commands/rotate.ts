import { Command, Option } from 'commander';
import { kinds } from '../../../api/core/kinds.ts';
import { annotations } from '../../../api/names.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { isAsleep } from '../../../api/steward/v1alpha1/sleep/is-asleep.ts';
import { sleep } from '../../../runtime/clock.ts';
import { UsageError } from '../../flags/flags.ts';
import { connectManagement } from '../connect/management-cluster.ts';
import type { ManagementCluster } from '../connect/management-cluster.ts';
import { changeControlPlane, pluginFieldManager } from '../control-plane/change-control-plane.ts';
import { findControlPlane, requireLocal } from '../control-plane/find-control-plane.ts';
import type { ControlPlane, LocalControlPlane } from '../control-plane/find-control-plane.ts';
import { followObject } from '../control-plane/follow-object.ts';
import { wakeProgress } from '../control-plane/sleep-progress.ts';
import { withConnection, withWait } from '../frame/shared-options.ts';
import type { ConnectionOptions, WaitOptions } from '../frame/shared-options.ts';
import type { World } from '../frame/world.ts';
import { stillToRotate } from '../rotate/certificates-progress.ts';
import { forgottenProgress, operationProgress } from '../rotate/operation-progress.ts';
import { operations, rotatables, secretOf } from '../rotate/rotatable.ts';
import type { Operation, Rotatable } from '../rotate/rotatable.ts';

type Options = ConnectionOptions & WaitOptions & { readonly operation?: Operation };

const pollMs = 1_000;

/** `rotate`: replaces certificates. */
export function rotateCommand(world: World): Command {
  const command = new Command('rotate')
    .summary('Replace certificates of a control plane, or rotate its CAs gradually.')
    .description(
      `Replaces the certificates and kubeconfigs of a control plane that its CAs sign: all of them, or those that are named (${rotatables
        .map(({ name }) => name)
        .join(
          ', ',
        )}). No client is interrupted. --operation rotates the CAs or the service-account key: start it, update workers ` +
        'and users, then complete it.',
    )
    .argument('<name>', 'Name of the control plane.')
    .argument('[certificates...]', 'What to replace. Defaults to all.')
    .addOption(new Option('--operation <operation>', 'Operation on CAs and keys.').choices(operations));
  return withWait(withConnection(command, '15m')).action(
    async (name: string, certificates: readonly string[], options: Options) => {
      const chosen = chosenRotatables(certificates);
      if (options.operation !== undefined && certificates.length > 0) {
        throw new UsageError('--operation concerns CAs and keys: leave out the certificates');
      }
      await using management = await connectManagement(world, options);
      const plane = await findControlPlane(name, management);
      if (options.operation === undefined) {
        await rotateCertificates(requireLocal(plane), chosen, { management, wait: options.wait });
      } else await requestOperation(plane, options.operation, { management, wait: options.wait });
    },
  );

  async function rotateCertificates(
    plane: LocalControlPlane,
    chosen: readonly Rotatable[],
    { management, wait }: { readonly management: ManagementCluster; readonly wait: boolean },
  ): Promise<void> {
    const { cluster, signal } = management;
    const { namespace, name } = plane;
    const names = chosen.map((one) => secretOf(name, one));
    const read = async () => {
      const found = await Promise.all(
        names.map((secret) => cluster.get(kinds.Secret, { namespace, name: secret }, { signal })),
      );
      return found.filter((secret) => secret !== undefined);
    };
    // Add-ons that are not enabled have none.
    const present = (await read()).map(({ metadata }) => metadata.name);
    const body = { metadata: { annotations: { [annotations.rotate]: '' } } };
    for (const secret of present) {
      const options = { fieldManager: pluginFieldManager, signal };
      await cluster.patch(kinds.Secret, { namespace, name: secret }, { type: 'merge', body }, options);
      world.note(`secret/${secret} will be replaced`);
    }
    if (!wait) return;
    let left = stillToRotate(await read());
    let shown = '';
    while (left.length > 0) {
      const line = `${name}: waiting for ${left.join(', ')}`;
      if (line !== shown) world.note(line);
      shown = line;
      await sleep(world.clock, pollMs, signal);
      left = stillToRotate(await read());
    }
    world.note(`${name}: ${present.length} Secrets were replaced`);
    if (isAsleep(plane.tenant)) return;
    await followObject(tenantControlPlane, { namespace, name }, wakeProgress, { management, world });
  }

  async function requestOperation(
    plane: ControlPlane,
    operation: Operation,
    { management, wait }: { readonly management: ManagementCluster; readonly wait: boolean },
  ): Promise<void> {
    const { tenant } = plane;
    const request = (value: Operation | null): Promise<string> => {
      const change = { metadata: { annotations: { [annotations.operation]: value } } };
      return changeControlPlane(plane, { tenant: change, parent: change }, management);
    };
    if (tenant?.status?.certificates?.rotation?.operation === operation) {
      await request(null);
      const progress = forgottenProgress.bind(undefined, operation);
      await followObject(tenantControlPlane, tenant.metadata, progress, { management, world });
    }
    world.note(`${await request(operation)}: operation ${operation} is requested`);
    if (!wait || tenant === undefined) return;
    const progress = operationProgress.bind(undefined, operation);
    await followObject(tenantControlPlane, tenant.metadata, progress, { management, world });
  }
}

function chosenRotatables(names: readonly string[]): readonly Rotatable[] {
  const unknown = names.find((name) => !rotatables.some((one) => one.name === name));
  if (unknown !== undefined) {
    const all = rotatables.map(({ name }) => name).join(', ');
    throw new UsageError(
      `"${unknown}" cannot be rotated by name; choose from ${all}. For CAs and keys, use --operation`,
    );
  }
  return names.length === 0 ? rotatables : rotatables.filter(({ name }) => names.includes(name));
}
