import type { FieldChange } from './field-changes.ts';

/** What becomes of one object. */
export interface PlannedObject {
  readonly action: 'create' | 'change' | 'delete';
  readonly where: 'management cluster' | 'tenant';
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  /** The fields that differ; none for an object that is created or deleted. */
  readonly fields: readonly FieldChange[];
}

/** What becomes of the pods of the control plane. */
export interface PlannedPods {
  /**
   * `restart`: all pods are replaced, as the strategy says. `scale`: their number changes. `start` and `stop`: the control plane wakes or
   * falls asleep, or is new.
   */
  readonly action: 'none' | 'restart' | 'scale' | 'start' | 'stop';
  readonly from: number;
  readonly to: number;
  /** Why they are replaced. */
  readonly reasons: readonly string[];
}

/** The Kubernetes version before and after. */
export interface PlannedVersion {
  /** Absent if no API server runs yet. */
  readonly from?: string;
  readonly to: string;
  /** What holds the upgrade: the pods keep the version that runs. */
  readonly heldBy?: { readonly reason: string; readonly message: string };
  /** What could not be checked, because a plan sends no request to the tenant. */
  readonly unchecked: readonly string[];
}

/** A condition that is not healthy once everything has been done that can be done. */
export interface PlannedWait {
  readonly condition: string;
  readonly reason: string;
  readonly message: string;
}

/** What a changed manifest would do. */
export interface Plan {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** What admission answers if it refuses the manifest: then nothing else is planned. */
  readonly refused?: string;
  /** What admission warns of. */
  readonly warnings: readonly string[];
  /** What changes in the spec, labels and annotations, defaults included. */
  readonly change: readonly FieldChange[];
  readonly objects: readonly PlannedObject[];
  readonly pods: PlannedPods;
  readonly version: PlannedVersion;
  readonly waits: readonly PlannedWait[];
  /** What a person should know besides. */
  readonly notes: readonly string[];
}
