import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { InvalidInput } from '../../../../kubeadm/invalid-input-error.ts';
import { hostNames, isSame, rivalWords } from '../host-claims.ts';
import { annotationProblem, dnsNameKeys, entriesOf } from './validate-annotation.ts';
import { validateExternalIp, externalIpOf } from './external-ip.ts';
import type { AddonServer } from '../../shared/addon-server.ts';
import type { Reach } from './reach.ts';

/** A change of a control plane, and the effects that it may have outside its namespace. */
export interface ReachQuestion {
  readonly tcp: TenantControlPlane;
  /** Absent on creation. */
  readonly old?: TenantControlPlane | undefined;
  readonly reach: Reach;
  /** The servers of add-ons. */
  readonly servers: readonly AddonServer[];
  /** All control planes; absent if they were not listed. */
  readonly tenants?: readonly TenantControlPlane[] | undefined;
}

type Annotations = Readonly<Record<string, string>>;

/** The annotations that objects of a control plane get from its spec, by field. */
function annotationsOf({ spec }: TenantControlPlane): readonly (readonly [field: string, given: Annotations])[] {
  const { service, ingress, gateway, deployment } = spec.controlPlane;
  const given: readonly (readonly [string, Annotations | undefined])[] = [
    ['service.additionalMetadata', service.additionalMetadata?.annotations],
    ['ingress.additionalMetadata', ingress?.additionalMetadata?.annotations],
    ['gateway.additionalMetadata', gateway?.additionalMetadata?.annotations],
    ['deployment.additionalMetadata', deployment.additionalMetadata?.annotations],
    ['deployment.podAdditionalMetadata', deployment.podAdditionalMetadata?.annotations],
  ];
  return given.map(([field, annotations = {}]) => [`spec.controlPlane.${field}.annotations`, annotations] as const);
}

/** The DNS names that a control plane requests by annotations. */
function dnsNames(tcp: TenantControlPlane): readonly string[] {
  return annotationsOf(tcp).flatMap(([, given]) =>
    Object.entries(given).flatMap(([key, value]) => (dnsNameKeys.includes(key) ? entriesOf(value) : [])),
  );
}

/** True when the change requests DNS names, by annotations, that the control plane did not request before. */
export function asksForDnsNames({ tcp, old }: Pick<ReachQuestion, 'tcp' | 'old'>): boolean {
  const before = new Set(old === undefined ? [] : dnsNames(old));
  return dnsNames(tcp).some((name) => !before.has(name));
}

/** A DNS name leads to one place: the name of another control plane would lead its users here. */
function rivalProblem(
  value: string,
  { tcp, servers, tenants = [] }: ReachQuestion,
): Pick<InvalidInput, 'reason' | 'remedy'> | undefined {
  const wanted = new Set(entriesOf(value));
  const rival = tenants.find(
    (other) =>
      !isSame(tcp, other) && [...hostNames(other, servers), ...dnsNames(other)].some((name) => wanted.has(name)),
  );
  if (rival === undefined) return undefined;
  const reason = `requests a DNS name that ${rivalWords(tcp, rival)} already uses`;
  return { reason, remedy: 'use a name that no other control plane uses' };
}

const longest = 100;

function shown(value: string): string {
  return value.length <= longest ? value : `${value.slice(0, longest)}… (${value.length} characters)`;
}

/** Stored values are not validated again: rules may be newer than objects. */
function validateAnnotations(question: ReachQuestion): readonly InvalidInput[] {
  const { tcp, old, reach, servers } = question;
  const names = new Set([...hostNames(tcp, servers), ...(tcp.spec.networkProfile.certSANs ?? [])]);
  const before = new Map(old === undefined ? [] : annotationsOf(old));
  return annotationsOf(tcp).flatMap(([field, given]) =>
    Object.entries(given).flatMap(([key, value]) => {
      const known = before.get(field) ?? {};
      if (Object.hasOwn(known, key) && known[key] === value) return [];
      const problem =
        annotationProblem({ key, value, names, isOnPods: field.startsWith('spec.controlPlane.deployment.') }, reach) ??
        (dnsNameKeys.includes(key) ? rivalProblem(value, question) : undefined);
      return problem === undefined
        ? []
        : [{ field: `${field}[${JSON.stringify(key)}]`, value: shown(value), ...problem }];
    }),
  );
}

function validateNewExternalIp({ tcp, old, reach }: ReachQuestion): readonly InvalidInput[] {
  if (old !== undefined && externalIpOf(old) === externalIpOf(tcp)) return [];
  const error = validateExternalIp(tcp, reach);
  return error === undefined ? [] : [error];
}

/** Validates what has effects outside the namespace of the control plane. */
export function validateReach(question: ReachQuestion): readonly InvalidInput[] {
  return [...validateNewExternalIp(question), ...validateAnnotations(question)];
}
