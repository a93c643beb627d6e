import type { Condition } from '../../../api/meta.ts';
import type {
  TenantControlPlane,
  TenantControlPlaneStatus,
} from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { InvalidInput } from '../../../kubeadm/invalid-input-error.ts';
import type { KubernetesVersion } from '../../../kubeadm/versions.ts';
import type { NewCondition } from '../../../runtime/reconcile/conditions.ts';
import type { PassesOn } from '../adoption/retained-objects.ts';
import type { ApiServerNames } from '../certificates/certificate-names.ts';
import type { ServesTls } from '../endpoint/pods-have-san.ts';
import type { Dependencies } from '../dependencies.ts';
import type { Scope, SecretFacts } from '../scope.ts';
import type { AddonServer } from '../shared/addon-server.ts';
import type { AddonPod } from '../shared/pod-parts.ts';
import type { PhaseRow } from '../shared/phase-row.ts';
import type { Program } from '../workload/guarded-arguments.ts';
import type { HasImages } from '../workload/validate-images.ts';
import type { StatusWords } from './addon-status.ts';
import type { Inside } from './inside-phase.ts';
import type { OwnObject, Retention } from './retention.ts';

/** The name of an add-on: its field in `spec.addons` and in `status.addons`. */
export type AddonName = keyof TenantControlPlane['spec']['addons'];

/** The status of an add-on. */
export type AddonStatus<N extends AddonName> = NonNullable<NonNullable<TenantControlPlaneStatus['addons']>[N]>;

/**
 * An optional part of a tenant, which exists while `spec.addons` has its field. `F` is what its phases learn: the scope has it below
 * `addons`. An add-on leaves out what it does not need.
 */
export interface Addon<N extends AddonName = AddonName, F extends object = object>
  extends HasImages, ServesTls, ApiServerNames, PassesOn {
  readonly name: N;
  /** Its objects inside the tenant. */
  readonly inside: Inside;
  /** Its other phases. */
  readonly phases?: readonly PhaseRow[];
  /** Programs whose arguments the author may set. */
  readonly programs?: readonly Program[];
  /** Validates everything else that the author wants; `taken` has the ports that others use in the pods, and who does. */
  validate?(tcp: TenantControlPlane, taken: ReadonlyMap<number, string>): readonly InvalidInput[];
  /** Its program in the pods that clients dial. */
  readonly server?: AddonServer;
  /** What it brings into the pods of the control plane, which get this version; undefined while it is off. */
  pod?(tcp: TenantControlPlane, version: KubernetesVersion): AddonPod | undefined;
  /** What these mount, by component label: pods are replaced when it changes. */
  mounted?(scope: Readonly<Scope>): SecretFacts;
  /**
   * Why a new pod that is ready should not get connections yet: what dials its server has not come. Undefined when it should, or when
   * this cannot be found out.
   */
  unprepared?(
    scope: Readonly<Scope>,
    podIp: string,
    deps: Pick<Dependencies, 'tenants'>,
    signal: AbortSignal,
  ): Promise<string | undefined>;
  /** True when it maintains the endpoints of the Service `kubernetes` inside the tenant, in place of Steward. */
  readonly keepsKubernetesService?: boolean;
  /**
   * Its objects in the management cluster that are not wanted now, in the order of removal. Secrets come last: as long as one of them
   * exists, something is left to remove.
   */
  unwanted?(scope: Readonly<Scope>): readonly OwnObject[];
  /** Why these objects are not removed yet although they are not wanted. */
  readonly retainWhile?: readonly Retention[];
  /** Its status after a reconcile; by default, whether its objects are inside and since when. */
  status?(scope: Readonly<Scope>, words: StatusWords): AddonStatus<N> | undefined;
  /** Conditions of its own; `list` has those of the phases. */
  conditions?(scope: Readonly<Scope>, list: readonly Condition[]): readonly NewCondition[];
  /** When its first certificate must be renewed, in milliseconds since the epoch. */
  renewal?(scope: Readonly<Scope>): number | undefined;
  /** Never set. Carries the type of its facts. */
  readonly facts?: F;
}
