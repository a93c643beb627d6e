import type { LocalProvider } from '../../../e2e/cluster/clusterctl-repository.ts';
import type { KubernetesClient } from '../../../e2e/cluster/kubernetes-client.ts';

/** Where a manager under test works. All addresses are of this host. */
export interface ManagerPlace {
  /** Of the ServiceAccount that the provider's release gives its manager, with exactly the rights that the release gives it. */
  readonly kubeconfigPath: string;
  /** Namespace of that ServiceAccount. */
  readonly namespace: string;
  /** Port of its webhooks, which the API server calls as `https://localhost:<port>/<path>`; undefined: it serves none. */
  readonly webhooks: number | undefined;
  /** `tls.crt` and `tls.key` for localhost, for managers that are given their certificates. */
  readonly certificates: string;
  /** Port of its `/readyz`. */
  readonly health: number;
  /** Value of `--watch-filter`; undefined: it looks after everything. */
  readonly watchFilter?: string | undefined;
}

/** How a process is started. */
export interface Command {
  readonly program: string;
  readonly programArguments: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
}

/** Names one control plane. */
export interface ControlPlaneName {
  readonly namespace: string;
  readonly name: string;
}

/** What stands in for nodes of the management cluster: control planes run as processes of this host. */
export interface Hosting extends AsyncDisposable {
  /** Ends the API server of a control plane permanently, so that it cannot be reached anymore. */
  cutOff(controlPlane: ControlPlaneName): Promise<void>;
  /** Deletes behind the provider's back what it has made in the management cluster for a control plane. */
  takeAway(controlPlane: ControlPlaneName): Promise<void>;
  /** Has the provider issue a new administrator's credential. */
  rotate(controlPlane: ControlPlaneName): Promise<void>;
  /** Labels of the control plane's pods. */
  podLabels(controlPlane: ControlPlaneName): Promise<Readonly<Record<string, string>>>;
}

/** Where control planes are to run. */
export interface HostingPlace {
  /** Administrator of the management cluster. */
  readonly client: KubernetesClient;
  readonly kubeconfig: string;
}

/**
 * A control-plane provider as the contract kit needs to know it. Services of type ClusterIP have addresses of this host's
 * loopback network, so that an API server which is a process can be reached where its Service says.
 */
export interface ControlPlaneProfile {
  /** As clusterctl calls it. */
  readonly provider: string;
  /** Of the newest version that it serves. */
  readonly apiVersion: string;
  /** Its template is `<kind>Template`. */
  readonly kind: string;
  /** What the CRD name of the kind is. */
  readonly plural: string;
  /** Three minors of Kubernetes in a row, oldest first. */
  readonly versions: readonly [string, string, string];
  /** Spec of a control plane beside version and replicas, and of its template. */
  readonly spec: Readonly<Record<string, unknown>>;
  /** Part of a spec that is changed in a template and has to arrive in its control planes: merged into `spec`. */
  readonly changed: Readonly<Record<string, unknown>>;
  /** Spec of one whose pods run in another cluster, by a kubeconfig of this Secret; undefined: it knows none. */
  readonly elsewhere?: (reference: {
    readonly secret: string;
    readonly key: string;
    readonly namespace: string;
  }) => Readonly<Record<string, unknown>>;
  /** Writes a release as clusterctl fetches it; `version` with a leading v. */
  release(into: string, version?: string): Promise<LocalProvider>;
  /** Writes a release before `current`, whose definitions have fewer versions. */
  predecessor(current: LocalProvider, into: string): Promise<LocalProvider>;
  manager(place: ManagerPlace): Command;
  host(place: HostingPlace): Promise<Hosting>;
}
