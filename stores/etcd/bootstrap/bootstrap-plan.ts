import type { Profile } from '../../../kubeadm/pki/key-pair.ts';

/** A quick-start etcd: a StatefulSet `etcd` behind a headless Service `etcd`. */
export interface EtcdPlan {
  readonly namespace: string;
  readonly members: number;
  /** E.g. `cluster.local`. */
  readonly clusterDomain: string;
}

/** Secrets of a quick-start etcd. */
export const etcdSecretNames = {
  /** `ca.crt`, `ca.key`, and `tls.crt`, `tls.key` of the administrator: what the DataStore refers to. No pod mounts it. */
  administrator: 'etcd-certs',
  /** `ca.crt`, `tls.crt`, `tls.key`: mounted by the members, for their clients. */
  server: 'etcd-server-certs',
  /** `ca.crt`, `ca.key` of the members among themselves. No pod mounts it. */
  peerAuthority: 'etcd-peer-ca',
  /** `ca.crt`, `tls.crt`, `tls.key`: mounted by the members, for each other. */
  peer: 'etcd-peer-certs',
} as const;

const service = 'etcd';

/** Where clients find the members, `host:port` each, in their order. */
export function etcdEndpoints(plan: EtcdPlan): readonly string[] {
  return memberNames(plan, plan.members).map((name) => `${name}:2379`);
}

function memberNames({ namespace, clusterDomain }: EtcdPlan, count: number): readonly string[] {
  return Array.from(
    { length: count },
    (_, index) => `${service}-${index}.${service}.${namespace}.svc.${clusterDomain}`,
  );
}

/** All names of the members, for at least three of them, so that the certificates need not change when a cluster grows. */
function serverNames(plan: EtcdPlan): readonly string[] {
  const { namespace, clusterDomain } = plan;
  const suffixes = [
    service,
    `${service}.${namespace}`,
    `${service}.${namespace}.svc`,
    `${service}.${namespace}.svc.${clusterDomain}`,
  ];
  const members = Array.from({ length: Math.max(plan.members, 3) }, (_, index) => `${service}-${index}`);
  return [
    'localhost',
    ...suffixes,
    ...members.flatMap((member) => [member, ...suffixes.map((suffix) => `${member}.${suffix}`)]),
  ];
}

/** The profiles of all certificates. Nothing that requires a certificate of one CA accepts one of the other CA. */
export function etcdProfiles(
  plan: EtcdPlan,
): Readonly<Record<'ca' | 'administrator' | 'server' | 'peerCa' | 'peer', Profile>> {
  const names = { dnsNames: serverNames(plan), ipAddresses: ['127.0.0.1', '::1'] };
  return {
    ca: { commonName: 'etcd-ca', usages: [] },
    administrator: { commonName: 'root', usages: ['clientAuth'] },
    server: { commonName: 'etcd-server', usages: ['serverAuth', 'clientAuth'], ...names },
    peerCa: { commonName: 'etcd-peer-ca', usages: [] },
    peer: { commonName: 'etcd-peer', usages: ['serverAuth', 'clientAuth'], ...names },
  };
}
