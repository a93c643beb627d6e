import type { Addon } from './addon.ts';
import { coreDNS } from './coredns/addon.ts';
import type { InsideFacts } from './inside-phase.ts';
import { konnectivity } from './konnectivity/addon.ts';
import { kubeProxy } from './kube-proxy/addon.ts';
import { tcpProxy } from './tcp-proxy/addon.ts';
import { workerBootstrap } from './worker-bootstrap/addon.ts';

const all = [coreDNS, kubeProxy, konnectivity, workerBootstrap, tcpProxy] as const;

type Registered = (typeof all)[number];

/** All add-ons. */
export const addons: readonly Addon[] = all;

/** What phases learn about each add-on. */
export type AddonFacts = {
  readonly [A in Registered as A['name']]?: InsideFacts & Partial<NonNullable<A['facts']>>;
};
