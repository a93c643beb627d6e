import { runCommand, tryCommand } from '../machines/run-command.ts';
import type { NetworkPlan } from './network-plan.ts';

interface RouteEntry {
  readonly dst: string;
  readonly dev?: string;
}

interface LinkEntry {
  readonly ifname: string;
}

/** IPv4 ranges that the host has routes for, the default route left out. */
export async function hostRanges(): Promise<readonly string[]> {
  const { stdout } = await runCommand('ip', ['-4', '-j', 'route', 'show', 'table', 'main']);
  return (JSON.parse(stdout) as RouteEntry[])
    .map(({ dst }) => dst)
    .filter((dst) => dst !== 'default')
    .map((dst) => (dst.includes('/') ? dst : `${dst}/32`));
}

/** Routes of the host that lead through one of these links, the links' own networks included. */
export async function hostRoutes(links: readonly string[]): Promise<readonly string[]> {
  const { stdout } = await runCommand('ip', ['-4', '-j', 'route', 'show', 'table', 'main']);
  return (JSON.parse(stdout) as RouteEntry[])
    .filter(({ dev }) => dev !== undefined && links.includes(dev))
    .map(({ dst, dev }) => `${dst} dev ${dev ?? ''}`);
}

/** Names of the host's links that belong to some harness, or to the one with this bridge. */
export async function harnessLinks(bridge?: string): Promise<readonly string[]> {
  const { stdout } = await runCommand('ip', ['-j', 'link', 'show']);
  const pattern = bridge === undefined ? /^stw\d+(m\d+)?$/ : new RegExp(`^${bridge}(m\\d+)?$`);
  return (JSON.parse(stdout) as LinkEntry[]).map(({ ifname }) => ifname).filter((name) => pattern.test(name));
}

/** Makes the harness' bridge with the host's address on it. */
export async function createBridge(plan: NetworkPlan): Promise<void> {
  const bits = plan.machines.split('/')[1] ?? '24';
  await runCommand('ip', ['link', 'add', plan.bridge, 'type', 'bridge']);
  await runCommand('ip', ['addr', 'add', `${plan.gateway}/${bits}`, 'dev', plan.bridge]);
  await runCommand('ip', ['link', 'set', plan.bridge, 'up']);
}

/** Connects the network namespace of a machine's init to the bridge. */
export async function plugMachine(
  plan: NetworkPlan,
  machine: { readonly link: string; readonly address: string; readonly pid: number },
): Promise<void> {
  const bits = plan.machines.split('/')[1] ?? '24';
  const inside = ['-t', String(machine.pid), '-n', '--'];
  await removeLink(machine.link);
  await runCommand('ip', [
    'link',
    'add',
    machine.link,
    'type',
    'veth',
    'peer',
    'name',
    'eth0',
    'netns',
    String(machine.pid),
  ]);
  await runCommand('ip', ['link', 'set', machine.link, 'master', plan.bridge, 'up']);
  const commands = [
    'link set lo up',
    `addr add ${machine.address}/${bits} dev eth0`,
    'link set eth0 up',
    // kubeadm refuses a machine without one; it leads to the host, which forwards nothing.
    `route add default via ${plan.gateway}`,
  ];
  await runCommand('nsenter', [...inside, 'ip', '-batch', '-'], { input: `${commands.join('\n')}\n` });
}

/** Gives a machine, known by the process of its init, an IPv6 address of a network of 64 bits, and lets it forward to its pods. */
export async function addIpv6(address: string, init: number): Promise<void> {
  await runCommand(...inNamespace(init, ['sysctl', '-qw', 'net.ipv6.conf.all.forwarding=1']));
  // Nobody else has it: it can be used at once.
  await runCommand(...inNamespace(init, ['ip', 'addr', 'add', `${address}/64`, 'dev', 'eth0', 'nodad']));
}

/** Sends a range through this address, on the host or in the network namespace of a process. Repeating it is harmless. */
export async function addRoute(range: string, via: string, namespaceOf?: number): Promise<void> {
  await runCommand(...inNamespace(namespaceOf, ['ip', 'route', 'replace', range, 'via', via]));
}

/** Removes a route if it is there. */
export async function removeRoute(range: string, via: string, namespaceOf?: number): Promise<void> {
  const { code, stderr } = await tryCommand(...inNamespace(namespaceOf, ['ip', 'route', 'del', range, 'via', via]));
  if (code !== 0 && !stderr.includes('No such process')) throw new Error(`Route ${range} via ${via}: ${stderr.trim()}`);
}

/** Removes a link of the host if it is there. */
export async function removeLink(name: string): Promise<void> {
  const { code, stderr } = await tryCommand('ip', ['link', 'del', name]);
  if (code !== 0 && !stderr.includes('Cannot find device')) throw new Error(`Link ${name}: ${stderr.trim()}`);
}

function inNamespace(pid: number | undefined, command: readonly string[]): [string, readonly string[]] {
  const [first = '', ...rest] = command;
  return pid === undefined ? [first, rest] : ['nsenter', ['-t', String(pid), '-n', '--', ...command]];
}
