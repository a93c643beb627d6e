import type { Deployment } from '../../../api/core/kinds.ts';
import type { Cluster } from '../../../runtime/client/cluster.ts';
import { startProcessPod } from '../../../testing/servers/process-pod.ts';
import type { ProcessPod } from '../../../testing/servers/process-pod.ts';
import type { ServingFiles } from './stand-in-tenant.ts';

/** What serves one tenant. */
export interface ServingTenant {
  /** Open connections now. */
  readonly connections: number;
  /** Serves with other files from now on. */
  use(files: ServingFiles): void;
  /** Serves from now on, if it does not already. */
  listen(host: string, port: number): Promise<void>;
  /** Stops serving and ends all connections. */
  pause(): Promise<void>;
}

/** The tenants of this namespace get a real kube-apiserver in place of the stand-in, to compare what the manager does with both. */
export const realNamespace = 'real-servers';

/** What a real API server is made of. */
export interface RealTenantOptions {
  /** Holds the Deployment's Secrets. */
  readonly cluster: Cluster;
  readonly deployment: Deployment;
  readonly files: ServingFiles;
  /** Such as `v1.36.3`. */
  readonly version: string;
}

/** A real kube-apiserver, as its Deployment describes it. It keeps its first files and flags, and its connections are not counted. */
export class RealTenant implements ServingTenant {
  readonly connections = 0;
  readonly #options: RealTenantOptions;
  #pod: ProcessPod | undefined;

  constructor(options: RealTenantOptions) {
    this.#options = options;
  }

  /** Nothing is rotated while it is compared. */
  use(): void {
    return;
  }

  async listen(address: string): Promise<void> {
    const { cluster, deployment, files, version: kubernetes } = this.#options;
    this.#pod ??= await startProcessPod({ cluster, deployment, reader: { ca: files.clientCa }, address, kubernetes });
  }

  async pause(): Promise<void> {
    await this.#pod?.[Symbol.asyncDispose]();
    this.#pod = undefined;
  }
}
