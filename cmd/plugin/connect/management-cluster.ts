import { readFileSync } from 'node:fs';
import { KubeconfigError } from '../../../api/kubeconfig.ts';
import type { Cluster } from '../../../runtime/client/cluster.ts';
import type { Connection } from '../../../runtime/client/connection.ts';
import { parseKubeconfig } from '../../../runtime/client/kubeconfig.ts';
import { inClusterConnection, serviceAccountDirectory } from '../../../runtime/client/load-connection.ts';
import { exitCodes } from '../frame/exit-codes.ts';
import { PluginError } from '../frame/plugin-error.ts';
import type { ConnectionOptions } from '../frame/shared-options.ts';
import type { World } from '../frame/world.ts';
import { credentialProgram, readExecCredential } from './exec-credential.ts';
import { readKubeconfigFiles } from './kubeconfig-files.ts';
import type { KubeconfigFiles } from './kubeconfig-files.ts';

/** The management cluster during one command. */
export interface ManagementCluster extends AsyncDisposable {
  readonly cluster: Cluster;
  /** The namespace that the command line or the context names. */
  readonly namespace: string;
  /** Aborted when time is up, or when the process is asked to end. */
  readonly signal: AbortSignal;
}

/** Where the API server is, as whom, and in which namespace. */
interface Target {
  readonly connection: Connection;
  readonly namespace: string;
}

/**
 * Connects to the management cluster. The time of the command counts from here.
 * @throws KubeconfigError when the kubeconfig cannot be used, and PluginError when there is none.
 */
export async function connectManagement(world: World, options: ConnectionOptions): Promise<ManagementCluster> {
  const limit = new AbortController();
  const timer = world.clock.after(options.timeout, () => {
    const message = `not done within ${options.timeout / 1000} s; allow more time with --timeout`;
    limit.abort(new PluginError(message, exitCodes.absent));
  });
  const signal = AbortSignal.any([limit.signal, world.signal]);
  try {
    const { connection, namespace } = await findTarget(world, options, signal);
    const cluster = world.openCluster(connection, 'management');
    return {
      cluster,
      namespace: options.namespace ?? namespace,
      signal,
      [Symbol.asyncDispose]: async () => {
        timer.cancel();
        await cluster.close();
      },
    };
  } catch (error) {
    timer.cancel();
    throw error;
  }
}

async function findTarget(world: World, options: ConnectionOptions, signal: AbortSignal): Promise<Target> {
  const files = readKubeconfigFiles(options.kubeconfig, world);
  const context = options.context ?? files?.currentContext ?? '';
  if (files !== undefined && context !== '') return targetOf(files, context, { world, signal });
  const { KUBERNETES_SERVICE_HOST: host = '', KUBERNETES_SERVICE_PORT: port = '443' } = world.environment;
  if (options.context === undefined && options.kubeconfig === undefined && host !== '') {
    return { connection: inClusterConnection(host, port), namespace: namespaceOfPod() };
  }
  const seen = files === undefined ? 'there is no kubeconfig' : 'the kubeconfig has no current context';
  throw new PluginError(`${seen}: set --kubeconfig, --context or $KUBECONFIG, or run kubectl config use-context`);
}

async function targetOf(
  files: KubeconfigFiles,
  contextName: string,
  { world, signal }: { readonly world: World; readonly signal: AbortSignal },
): Promise<Target> {
  const context = files.contexts.find(({ name }) => name === contextName);
  if (context === undefined) {
    const known = files.contexts.map(({ name }) => name).sort();
    const choice = known.length === 0 ? 'it has none' : `it has ${known.join(', ')}`;
    throw new KubeconfigError(`kubeconfig: there is no context "${contextName}"; ${choice}`);
  }
  const user = files.users.find(({ name }) => name === context.value.user);
  const cluster = files.clusters.find(({ name }) => name === context.value.cluster);
  const where = `user "${String(context.value.user)}"`;
  let credentials = user?.value;
  if (credentials?.exec !== undefined && credentials.exec !== null) {
    const { exec, ...beside } = credentials;
    const told = { cluster: cluster?.value ?? {}, interactive: world.interactive };
    const program = credentialProgram(exec, where, told);
    // The fields beside it are checked, too: commands must not run as another user than the entry requests.
    credentials = { ...beside, ...readExecCredential(await world.runCredentialProgram(program, signal), where) };
  }
  // One context, which the reader of kubeconfigs checks; JSON is YAML.
  const single = {
    clusters: cluster === undefined ? [] : [{ name: cluster.name, cluster: cluster.value }],
    users: user === undefined ? [] : [{ name: user.name, user: credentials }],
    contexts: [{ name: contextName, context: context.value }],
  };
  const connection = parseKubeconfig(JSON.stringify(single), {
    context: contextName,
    readFile: (path) => readFileSync(path, 'utf8'),
  });
  const { namespace } = context.value;
  return { connection, namespace: typeof namespace === 'string' && namespace !== '' ? namespace : 'default' };
}

function namespaceOfPod(): string {
  try {
    return readFileSync(`${serviceAccountDirectory}/namespace`, 'utf8').trim();
  } catch {
    return 'default';
  }
}
