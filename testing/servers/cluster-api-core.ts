import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { allKinds } from '../../api/all-kinds.ts';
import { crd } from '../../api/generate/crd.ts';
import { buildClusterApiProviders, componentsFile } from '../../e2e/cluster/clusterctl-repository.ts';
import type { PlainObject } from '../../e2e/cluster/kubernetes-client.ts';
import { KubernetesClient, parseManifests } from '../../e2e/cluster/kubernetes-client.ts';
import { resolveTools } from '../../e2e/tools/resolve.ts';
import { answersOk } from './answers-ok.ts';
import type { ApiServerAccess } from './api-server.ts';
import { startApiServer } from './api-server.ts';
import { freePorts } from './free-ports.ts';
import { loopbackPair, serverCa } from './server-certificates.ts';
import { serverFolder } from './server-folder.ts';
import type { ServerProcess } from './server-process.ts';
import { startServerProcess } from './server-process.ts';

/** An API server with the kinds of Cluster API and of Steward, and Cluster API's core manager with its webhooks. */
export interface ClusterApiCore extends AsyncDisposable {
  readonly client: KubernetesClient;
  readonly kubeconfigPath: string;
  readonly access: ApiServerAccess;
  /** Ends the core manager, so that its webhooks do not answer. */
  leave(): Promise<void>;
  /** Starts it again; resolves when it is ready. */
  comeBack(): Promise<void>;
}

const isHook = ({ kind }: PlainObject): boolean => kind?.endsWith('WebhookConfiguration') === true;

interface Hook {
  readonly clientConfig: { readonly service?: { readonly path?: string } };
}

/** A configuration of webhooks that calls a process of this host instead of a Service. */
function callHere(configuration: PlainObject, port: number, authority: string): PlainObject {
  const hooks = (configuration.webhooks ?? []) as readonly Hook[];
  const webhooks = hooks.map((hook) => {
    const url = `https://localhost:${port}${hook.clientConfig.service?.path ?? ''}`;
    return { ...hook, clientConfig: { url, caBundle: Buffer.from(authority).toString('base64') } };
  });
  return { ...configuration, webhooks };
}

/** Objects are written in the stored version only, so no other one is requested. */
const withoutConversion = (definition: PlainObject): PlainObject => ({
  ...definition,
  spec: { ...definition.spec, conversion: { strategy: 'None' } },
});

/**
 * Starts them as processes of this host, with ClusterTopology on; they die with this process. Kubeadm's bootstrap kinds are
 * defined, without a manager. No node runs anywhere: what core makes of Clusters is objects.
 * @param more further definitions, such as an infrastructure provider's.
 * @param clusterApi a pinned release of Cluster API; by default the newest.
 * @param gates core's feature gates that are on besides.
 */
export async function startClusterApiCore(
  more: readonly PlainObject[],
  clusterApi?: string,
  gates: readonly string[] = [],
): Promise<ClusterApiCore> {
  const [folder, server, tools] = await Promise.all([
    serverFolder(),
    startApiServer({ rbac: false }),
    resolveTools(['capi-core-manager'], { clusterApi }),
  ]);
  const stop = async (): Promise<void> => {
    await server.stop();
    await folder[Symbol.asyncDispose]();
  };
  try {
    const providers = await buildClusterApiProviders(folder.path, () => undefined, clusterApi);
    const texts = await Promise.all(
      providers.map(({ type, folder: built }) => readFile(join(built, componentsFile(type)), 'utf8')),
    );
    const definitions = texts
      .flatMap(parseManifests)
      .filter(({ kind }) => kind === 'CustomResourceDefinition')
      .map(withoutConversion);
    const client = new KubernetesClient(server.kubeconfig);
    const ours = allKinds.map((kind) => crd(kind) as unknown as PlainObject);
    await client.apply([...definitions, ...ours, ...more]);

    const ca = await serverCa('cluster-api');
    const serving = await loopbackPair(ca, 'capi-webhook-service');
    await writeFile(join(folder.path, 'tls.crt'), serving.certificate);
    await writeFile(join(folder.path, 'tls.key'), serving.key, { mode: 0o600 });
    const [health = 0, hooks = 0] = await freePorts(2);
    const start = async (): Promise<ServerProcess> => {
      const started = await startServerProcess({
        program: tools['capi-core-manager'],
        programArguments: [
          `--kubeconfig=${server.kubeconfigPath}`,
          `--feature-gates=${['ClusterTopology', ...gates].map((gate) => `${gate}=true`).join(',')}`,
          '--diagnostics-address=127.0.0.1:0',
          '--insecure-diagnostics',
          `--health-addr=127.0.0.1:${health}`,
          `--webhook-port=${hooks}`,
          `--webhook-cert-dir=${folder.path}`,
        ],
        log: join(folder.path, 'manager.log'),
        environment: { ...process.env, POD_NAMESPACE: 'default', POD_NAME: 'capi', POD_UID: 'capi' },
      });
      await started.until(() => answersOk(`http://127.0.0.1:${health}/readyz`), 60_000);
      return started;
    };
    let manager = await start();
    const core = parseManifests(texts[0] ?? '');
    await client.apply(core.filter(isHook).map((one) => callHere(one, hooks, ca.certificate)));
    return {
      client,
      kubeconfigPath: server.kubeconfigPath,
      access: server,
      leave: () => manager.kill(),
      async comeBack() {
        manager = await start();
      },
      async [Symbol.asyncDispose]() {
        await manager.kill();
        await stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
