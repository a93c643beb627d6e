/** What the author of a tenant may set for the pods of an add-on, in place of what kubeadm sets. */
export interface AddonPod {
  /** `resources` of the container. */
  readonly resources?: object;
  /** Appended to the flags. */
  readonly extraArgs?: readonly string[];
  readonly tolerations?: readonly object[];
}
