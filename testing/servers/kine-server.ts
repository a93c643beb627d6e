import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Etcd3 } from 'etcd3';
import type { IOptions } from 'etcd3';
import { dataKeys } from '../../api/names.ts';
import { kineArguments, kineSocket } from '../../controllers/tenantcontrolplane/datastore/kine-arguments.ts';
import { kineFilesFolder } from '../../stores/driver.ts';
import type { ClientTls, KineBinding, Tenancy } from '../../stores/driver.ts';
import { resolveTools } from '../../e2e/tools/resolve.ts';
import { patient } from '../patient.ts';
import { serverFolder } from './server-folder.ts';
import { startServerProcess } from './server-process.ts';
import type { ServerProcess } from './server-process.ts';

/** The arguments and environment, as in a tenant's pod. */
export interface KineOptions {
  readonly binding: KineBinding;
  readonly tenancy: Pick<Tenancy, 'schema' | 'user' | 'password'>;
  readonly tls?: ClientTls | undefined;
  /** `spec.controlPlane.deployment.extraArgs.kine`. */
  readonly extra?: readonly string[];
}

/** A real kine process at a socket of its own. */
export interface KineServer extends AsyncDisposable {
  /** Speaks to kine as kube-apiserver does: kine knows only those transactions. */
  readonly client: Etcd3;
  /** What `--etcd-servers` of a kube-apiserver takes. */
  readonly endpoint: string;
  readonly running: boolean;
  /** SIGKILL; the data stay. */
  kill(): Promise<void>;
  /** Kills it if it runs, starts it again and waits until it serves. */
  restart(): Promise<void>;
}

/** What the kubelet makes of `$(NAME)` in arguments. */
function expanded(argument: string, { binding, tenancy }: KineOptions): string {
  const environment: Readonly<Record<string, string | undefined>> = {
    [dataKeys.dataStoreConfig.connection]: binding.connection,
    [dataKeys.dataStoreConfig.schema]: tenancy.schema,
    [dataKeys.dataStoreConfig.user]: binding.user ?? tenancy.user,
    [dataKeys.dataStoreConfig.password]: binding.password ?? tenancy.password ?? '',
  };
  return argument.replaceAll(/\$\(([A-Z_]+)\)/g, (whole, name: string) => environment[name] ?? whole);
}

/** The arguments of the pod's container, with this host's paths in place of the container's. */
function hostArguments(options: KineOptions, folder: string, endpoint: string): readonly string[] {
  return kineArguments({ binding: options.binding, tls: options.tls, extra: options.extra }).map((argument) =>
    expanded(argument, options).replaceAll(`${kineFilesFolder}/`, `${folder}/`).replace(kineSocket, endpoint),
  );
}

async function writeFiles(folder: string, { binding, tls }: KineOptions): Promise<void> {
  const keys = dataKeys.dataStoreCertificate;
  const files = {
    ...binding.files,
    ...(tls !== undefined && { [keys.ca]: tls.ca }),
    ...(tls?.certificate !== undefined && { [keys.certificate]: tls.certificate }),
    ...(tls?.key !== undefined && { [keys.key]: tls.key }),
  };
  await Promise.all(Object.entries(files).map(([name, text]) => writeFile(join(folder, name), text, { mode: 0o600 })));
}

type Policy = NonNullable<NonNullable<IOptions['faultHandling']>['global']>;

/** One attempt: a refusal of the database comes as a code that etcd3 would take for a broken connection. */
const once = { execute: async (run, signal) => run({ signal: signal ?? new AbortController().signal }) } as Policy;

function clientOf(endpoint: string): Etcd3 {
  return new Etcd3({
    hosts: endpoint,
    grpcOptions: { 'grpc.use_local_subchannel_pool': 1, 'grpc.max_reconnect_backoff_ms': 200 },
    faultHandling: { global: once, host: () => once },
    defaultCallOptions: ({ isStream }) => (isStream ? {} : { deadline: Date.now() + patient(10_000) }),
  });
}

/**
 * Starts the pinned kine with the flags that a tenant's pod gives it and waits until it serves. Throws with the end of its log
 * when it does not. Disposing kills it and removes its files; it dies with this process.
 */
export async function startKine(options: KineOptions): Promise<KineServer> {
  const { kine } = await resolveTools(['kine']);
  const folder = await serverFolder();
  const endpoint = `unix://${join(folder.path, 'kine.sock')}`;
  const client = clientOf(endpoint);
  let server: ServerProcess | undefined;
  const start = async (): Promise<void> => {
    const started = await startServerProcess({
      program: kine,
      programArguments: hostArguments(options, folder.path, endpoint),
      log: join(folder.path, 'kine.log'),
    });
    server = started;
    await started.until(() => serves(endpoint), 30_000);
  };
  const stop = async (): Promise<void> => {
    client.close();
    await server?.kill();
    await folder[Symbol.asyncDispose]();
  };
  try {
    await writeFiles(folder.path, options);
    await start();
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    client,
    endpoint,
    get running() {
      return server?.running ?? false;
    },
    kill: async () => server?.kill(),
    restart: async () => {
      await server?.kill();
      await start();
    },
    [Symbol.asyncDispose]: stop,
  };
}

/** A client of its own for each try: one that was refused would wait before it dials again. */
async function serves(endpoint: string): Promise<boolean> {
  const client = clientOf(endpoint);
  try {
    await client.maintenance.status();
    return true;
  } catch {
    // Not listening yet is what the caller waits out.
    return false;
  } finally {
    client.close();
  }
}
