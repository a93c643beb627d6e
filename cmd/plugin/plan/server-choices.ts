import type { Deployment } from '../../../api/core/kinds.ts';
import type { Draft } from '../../../api/meta.ts';
import { isRecord } from '../../../api/structural/is-record.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Stands for the address and the port that the API server would choose. */
const chosen = { IPv4: '192.0.2.1', IPv6: '2001:db8::1', firstPort: 30_000 } as const;

/** The node ports of a Service. */
export function nodePortsOf(object: object): readonly number[] {
  const ports: unknown = 'spec' in object && isRecord(object.spec) ? object.spec.ports : undefined;
  const list: readonly unknown[] = Array.isArray(ports) ? ports : [];
  return list.flatMap((port) => (isRecord(port) && typeof port.nodePort === 'number' ? [port.nodePort] : []));
}

function service<T extends Draft>(object: T, takenPorts: ReadonlySet<number>): T {
  if (!('spec' in object) || !isRecord(object.spec) || object.spec.type === 'ExternalName') return object;
  const { spec } = object;
  const {
    ports = [],
    type = 'ClusterIP',
    ipFamilies = ['IPv4'],
  } = spec as {
    readonly ports?: readonly Fields[];
    readonly type?: string;
    readonly ipFamilies?: readonly string[];
  };
  const clusterIP = spec.clusterIP ?? (ipFamilies[0] === 'IPv6' ? chosen.IPv6 : chosen.IPv4);
  const needsPorts = type === 'NodePort' || (type === 'LoadBalancer' && spec.allocateLoadBalancerNodePorts !== false);
  const used = new Set([...takenPorts, ...nodePortsOf(object)]);
  const free = (): number => {
    let port: number = chosen.firstPort;
    while (used.has(port)) port += 1;
    used.add(port);
    return port;
  };
  const complete = ports.map(({ nodePort, ...port }) => ({
    protocol: 'TCP',
    targetPort: port.port,
    ...port,
    ...(needsPorts && { nodePort: nodePort ?? free() }),
  }));
  const addresses = { clusterIP, clusterIPs: spec.clusterIPs ?? [clusterIP] };
  return { ...object, spec: { type, ...addresses, ...spec, ports: complete } };
}

function secret<T extends Draft>(object: T): T {
  const { stringData, data, ...rest } = object as T & Fields;
  const texts = Object.entries(isRecord(stringData) ? stringData : {});
  const encoded = texts.map(([key, text]) => [key, Buffer.from(String(text)).toString('base64')] as const);
  const all = { ...(isRecord(data) ? data : {}), ...Object.fromEntries(encoded) };
  return { type: 'Opaque', ...rest, ...(Object.keys(all).length > 0 && { data: all }) } as Draft as T;
}

/** The object with what the API server itself adds, as far as controllers read it back. */
export function withServerChoices<T extends Draft>(object: T, takenPorts: ReadonlySet<number>): T {
  if (object.apiVersion !== 'v1') return object;
  if (object.kind === 'Service') return service(object, takenPorts);
  return object.kind === 'Secret' ? secret(object) : object;
}

/** The status of a Deployment whose pods are all ready, as they are once a plan has been carried out. */
export function withReadyPods<T extends Draft>(object: T): T {
  if (object.kind !== 'Deployment') return object;
  const { spec, metadata, status } = object as unknown as Deployment;
  const count = spec?.replicas ?? 1;
  const counts = { replicas: count, updatedReplicas: count, readyReplicas: count, availableReplicas: count };
  const { conditions, ...reported } = status ?? {};
  const others = Object.fromEntries(Object.entries(reported).filter(([name]) => name !== 'unavailableReplicas'));
  const kept = conditions?.filter(({ type }) => type !== 'ReplicaFailure');
  return {
    ...object,
    status: {
      ...others,
      ...(kept !== undefined && { conditions: kept }),
      ...counts,
      observedGeneration: metadata.generation,
    },
  };
}
