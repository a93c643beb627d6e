import { Command, Option } from 'commander';
import { kinds } from '../../../api/core/kinds.ts';
import { goDuration } from '../../../api/go-duration.ts';
import { readKubeconfig } from '../../../api/kubeconfig.ts';
import { bootstrapTokenSecret, newBootstrapToken, tokenEntropyBytes } from '../../../kubeadm/bootstrap-token.ts';
import { caCertHashes } from '../../../kubeadm/pki/certificate-chain.ts';
import { parseVersion } from '../../../kubeadm/versions.ts';
import { connectManagement } from '../connect/management-cluster.ts';
import { readAdminKubeconfig } from '../control-plane/admin-kubeconfig.ts';
import { pluginFieldManager } from '../control-plane/change-control-plane.ts';
import { findControlPlane, requireLocal } from '../control-plane/find-control-plane.ts';
import { conditionLine } from '../control-plane/ready-condition.ts';
import { exitCodes } from '../frame/exit-codes.ts';
import { PluginError } from '../frame/plugin-error.ts';
import { durationMs, withConnection } from '../frame/shared-options.ts';
import type { ConnectionOptions } from '../frame/shared-options.ts';
import type { World } from '../frame/world.ts';
import { joinCommandLine, joinUserData } from '../join/join-instructions.ts';
import type { JoinInputs } from '../join/join-instructions.ts';
import { dataText } from '../output/print-objects.ts';

const formats = ['command', 'cloud-init', 'json', 'yaml'] as const;
type Options = ConnectionOptions & { readonly ttl: number; readonly output: (typeof formats)[number] };

/** `join`: lets a worker join. */
export function joinCommand(world: World): Command {
  const command = new Command('join')
    .summary('Print the command, or the cloud-init user data, with which a worker joins.')
    .description(
      'Creates a bootstrap token inside the tenant and prints the command that joins a worker with it. Any number of workers can join ' +
        'with a token until it expires: treat the output as a password. With Cluster API, MachineDeployments do this by themselves.',
    )
    .argument('<name>', 'Name of the control plane.')
    .addOption(
      new Option('--ttl <duration>', 'How long the token is valid.')
        .argParser(durationMs)
        .default(goDuration('1h'), '1h'),
    )
    .addOption(new Option('-o, --output <format>', 'Format of the output.').choices(formats).default('command'));
  return withConnection(command, '1m').action(async (name: string, options: Options) => {
    await using management = await connectManagement(world, options);
    const { signal } = management;
    const plane = requireLocal(await findControlPlane(name, management));
    const configured = plane.tenant.status?.conditions?.find(({ type }) => type === 'TenantConfigured');
    if (configured?.status !== 'True') {
      const why = configured === undefined ? 'the manager has not reported it yet' : conditionLine(configured);
      throw new PluginError(`workers cannot join ${plane.name} yet: ${why}`, exitCodes.absent);
    }
    const { access } = readKubeconfig(await readAdminKubeconfig(plane, 'endpoint', management));
    const token = newBootstrapToken(world.random(tokenEntropyBytes));
    const expiration = new Date(world.clock.now().getTime() + options.ttl);
    const secret = bootstrapTokenSecret({ token, expiration, description: 'created by kubectl steward join' });
    const tenant = world.openCluster(access, 'tenant');
    try {
      await tenant.create(kinds.Secret, secret, { fieldManager: pluginFieldManager, signal });
    } finally {
      await tenant.close();
    }
    const version = parseVersion(
      plane.tenant.status?.kubernetesResources?.version?.version ?? plane.tenant.spec.kubernetes.version,
    );
    const inputs: JoinInputs = {
      endpoint: new URL(access.server).host,
      token: `${token.id}.${token.secret}`,
      caCertHashes: caCertHashes(access.ca ?? ''),
      minor: version.minor,
    };
    world.out(textOf(inputs, options.output, expiration));
    world.note(
      `the token is valid until ${expiration.toISOString()}; the worker needs kubeadm and kubelet 1.${version.minor} or up to three minors older`,
    );
  });
}

function textOf(inputs: JoinInputs, format: Options['output'], expiration: Date): string {
  if (format === 'command') return `${joinCommandLine(inputs)}\n`;
  if (format === 'cloud-init') return joinUserData(inputs);
  const { endpoint, token, caCertHashes: hashes } = inputs;
  const data = {
    endpoint,
    token,
    caCertHashes: hashes,
    expiration: expiration.toISOString(),
    command: joinCommandLine(inputs),
  };
  return dataText(data, format);
}
