import type { PlainObject } from '../kubernetes-client.ts';
import type { Machine } from '../machines/machine.ts';

/** The maps in which kube-proxy (mode nftables) has an element for each port of each Service. */
const maps = ['service-ips', 'no-endpoint-services'] as const;

/** An nft without names of protocols lists numbers. */
const protocols: Readonly<Record<string, string>> = { 6: 'tcp', 17: 'udp', 132: 'sctp' };

const fullSyncCount = /^kubeproxy_sync_full_proxy_rules_duration_seconds_count\{ip_family="IPv4"\} (\d+)/m;

/** What kube-proxy of a machine sends on, each as `10.96.0.1 tcp 443`, as the machine's kernel has it. */
export async function serviceRules(machine: Machine): Promise<ReadonlySet<string>> {
  const lists = await Promise.all(
    maps.map((map) => machine.exec(['nft', '--json', 'list', 'map', 'ip', 'kube-proxy', map])),
  );
  return new Set(lists.flatMap(({ stdout }) => parseServiceRules(stdout)));
}

/** Reads what `nft --json list map` prints. */
export function parseServiceRules(json: string): readonly string[] {
  const { nftables } = JSON.parse(json) as { readonly nftables: readonly Listed[] };
  return nftables.flatMap(({ map }) =>
    (map?.elem ?? []).map(([key]) => {
      const { concat } = 'elem' in key ? key.elem.val : key;
      const [address = '', protocol = '', port = ''] = concat.map(String);
      return `${address} ${protocols[protocol] ?? protocol} ${port}`;
    }),
  );
}

/** What kube-proxy has to send on for these Services, in the words of {@link serviceRules}. IPv4 only. */
export function wantedRules(services: readonly PlainObject[]): readonly string[] {
  return services.flatMap(({ spec, status }) => {
    const { type, clusterIPs = [], ports = [] } = (spec ?? {}) as ServiceSpec;
    if (type === 'ExternalName') return [];
    const { loadBalancer } = (status ?? {}) as ServiceStatus;
    const addresses = [...clusterIPs, ...(loadBalancer?.ingress ?? []).map(({ ip = '' }) => ip)];
    return addresses
      .filter((address) => /^[\d.]+$/.test(address))
      .flatMap((address) => ports.map(({ protocol = 'TCP', port }) => `${address} ${protocol.toLowerCase()} ${port}`));
  });
}

interface Concatenation {
  readonly concat: readonly (string | number)[];
}

interface Listed {
  readonly map?: {
    /** Keys with a comment, such as those of Services without endpoints, are wrapped. */
    readonly elem?: readonly (readonly [Concatenation | { readonly elem: { readonly val: Concatenation } }, unknown])[];
  };
}

interface ServiceSpec {
  readonly type?: string;
  readonly clusterIPs?: readonly string[];
  readonly ports?: readonly { readonly protocol?: string; readonly port: number }[];
}

interface ServiceStatus {
  readonly loadBalancer?: { readonly ingress?: readonly { readonly ip?: string }[] };
}

/**
 * How often kube-proxy of a machine has written all of its rules: at its start, once an hour, and when the zone of its node changes.
 * In between it writes what has changed.
 */
export async function fullSyncs(machine: Machine): Promise<number> {
  // Its metrics are for the node alone, and a machine need not have curl.
  const ask = String.raw`exec 3<>/dev/tcp/127.0.0.1/10249; printf 'GET /metrics HTTP/1.0\r\n\r\n' >&3; cat <&3`;
  const { stdout } = await machine.exec(['bash', '-c', ask]);
  const [, count = '0'] = fullSyncCount.exec(stdout) ?? [];
  return Number(count);
}
