import ipaddr from 'ipaddr.js';

import type { KubernetesClient, PlainObject } from '../kubernetes-client.ts';
import { watchObjects } from '../watch-objects.ts';

interface ServiceFacts {
  readonly key: string;
  readonly name: string;
  readonly namespace: string;
  readonly wanted: boolean;
  readonly address: string | undefined;
}

/** Addresses of a range that are given to Services, first come, first served. Host and broadcast part are left out. */
export class AddressPool {
  readonly #free: string[];
  readonly #held = new Map<string, string>();

  constructor(range: string) {
    const [network, bits] = ipaddr.IPv4.parseCIDR(range);
    const first = network.toByteArray().reduce((value, byte) => value * 256 + byte, 0);
    const size = 2 ** (32 - bits);
    this.#free = Array.from({ length: Math.max(0, size - 2) }, (_, offset) => dotted(first + 1 + offset));
  }

  /**
   * The address of this holder: the one it has or requests, or the next free one.
   * @throws Error when none is free.
   */
  take(holder: string, asked?: string): string {
    const has = this.#held.get(holder);
    if (has !== undefined) return has;
    const index = asked === undefined ? 0 : Math.max(0, this.#free.indexOf(asked));
    const [address] = this.#free.splice(index, 1);
    if (address === undefined) throw new Error(`No load-balancer address is free for ${holder}.`);
    this.#held.set(holder, address);
    return address;
  }

  /** Gives the holder's address back, to be used again last. */
  giveBack(holder: string): void {
    const address = this.#held.get(holder);
    this.#held.delete(holder);
    if (address !== undefined) this.#free.push(address);
  }
}

/**
 * Does what a load-balancer controller does for Services of type LoadBalancer: assigns an address of the range and
 * writes it into `status.loadBalancer`. With `ipMode: VIP` kube-proxy of every node answers for it. Runs until aborted.
 */
export async function runLoadBalancer(
  client: KubernetesClient,
  range: string,
  options: { readonly signal: AbortSignal; readonly onError: (error: unknown) => void },
): Promise<void> {
  const pool = new AddressPool(range);
  await watchObjects(
    client.config,
    '/api/v1/services',
    async ({ type, object }) => {
      const service = readService(object);
      if (type === 'DELETED' || !service.wanted) {
        pool.giveBack(service.key);
        return;
      }
      const address = pool.take(service.key, service.address);
      if (service.address === address) return;
      await client.merge(
        { apiVersion: 'v1', kind: 'Service', name: service.name, namespace: service.namespace },
        { status: { loadBalancer: { ingress: [{ ip: address, ipMode: 'VIP' }] } } },
        'status',
      );
    },
    options,
  );
}

function readService(object: PlainObject): ServiceFacts {
  const { name = '', namespace = 'default' } = object.metadata ?? {};
  const spec = object.spec as { type?: string; loadBalancerIP?: string; loadBalancerClass?: string } | undefined;
  const status = object.status as { loadBalancer?: { ingress?: { ip?: string }[] } } | undefined;
  return {
    key: `${namespace}/${name}`,
    name,
    namespace,
    // A Service that names a class wants another controller.
    wanted: spec?.type === 'LoadBalancer' && spec.loadBalancerClass === undefined,
    address: status?.loadBalancer?.ingress?.[0]?.ip,
  };
}

function dotted(value: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.');
}
