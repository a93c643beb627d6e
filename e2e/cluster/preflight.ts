import { mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import path from 'node:path';

import { ensurePackages } from '../tools/debian-packages.ts';
import { readCgroupPlan } from './machines/cgroups.ts';
import { isMissing } from './machines/is-missing.ts';
import { tryCommand } from './machines/run-command.ts';
import { stateRoot } from './state.ts';
import type { Progress } from './machines/supplies.ts';

/** Debian packages that machines and their images are made with. */
export const neededPackages = [
  'ca-certificates',
  'conntrack',
  'ethtool',
  'iproute2',
  'iptables',
  'kmod',
  'mount',
  'nftables',
  'socat',
  'util-linux',
] as const;

interface Probe {
  readonly what: string;
  readonly remedy: string;
  /** Runs in throw-away namespaces, with an empty folder as $1. */
  readonly script: string;
}

const probes: readonly Probe[] = [
  {
    what: 'namespaces (mount, network, process, host name, IPC, cgroup) cannot be made',
    remedy: 'run as root of the host, or in a container started with --privileged',
    script: 'true',
  },
  {
    what: 'overlay mounts do not work below /var/lib',
    remedy:
      'modprobe overlay; /var/lib must be on ext4, xfs or btrfs, not itself on an overlay (in a container: a volume)',
    script:
      'mkdir "$1/l" "$1/u" "$1/w" "$1/m" && mount -t overlay overlay -o "lowerdir=$1/l,upperdir=$1/u,workdir=$1/w" "$1/m"',
  },
  {
    what: 'there is no /dev/kmsg, without which the kubelet does not start',
    remedy: 'in a container: start it with --device /dev/kmsg or --privileged',
    script: 'test -e /dev/kmsg',
  },
  { what: 'bridges cannot be made', remedy: 'modprobe bridge', script: 'ip link add stwprobe type bridge' },
  {
    what: 'packets between pods of one node would bypass Services',
    remedy: 'modprobe br_netfilter',
    script: 'test -e /proc/sys/net/bridge/bridge-nf-call-iptables',
  },
  {
    what: 'virtual Ethernet pairs cannot be made',
    remedy: 'modprobe veth',
    script: 'ip link add stwprobe0 type veth peer name stwprobe1',
  },
  {
    what: 'nftables with address translation does not work',
    remedy: 'modprobe nf_tables nft_chain_nat nft_masq nft_fib_inet',
    script:
      'nft "add table ip stwprobe; add chain ip stwprobe c { type nat hook postrouting priority 100; }; add rule ip stwprobe c masquerade"',
  },
];

/**
 * Makes this host one that can run machines, as far as that is ours to do: installs missing Debian packages and loads kernel modules.
 * @returns one line per obstacle that stays, each with what helps; empty when there is none.
 */
export async function preflight(progress: Progress = () => undefined): Promise<readonly string[]> {
  if (process.platform !== 'linux') {
    return [`machines are made of Linux namespaces, this is ${process.platform}: use a Linux host or virtual machine`];
  }
  if (process.getuid?.() !== 0) return ['root is needed for namespaces, mounts and links: run with sudo'];
  try {
    await ensurePackages(neededPackages, (line) => {
      progress('packages', line);
    });
  } catch (error) {
    return [(error as Error).message];
  }
  await loadModules();
  return blockers();
}

async function blockers(): Promise<readonly string[]> {
  const [identity = ''] = (await readFile('/proc/self/uid_map', 'utf8')).split('\n');
  if (identity.trim().split(/\s+/)[2] !== '4294967295') {
    return ['root of a user namespace is not enough: run as root of the host, not in a rootless container'];
  }
  const problems: string[] = [];
  await readCgroupPlan().catch((error: unknown) => {
    problems.push((error as Error).message);
  });
  for (const tool of ['unshare', 'nsenter', 'ip', 'nft', 'mount']) {
    const found = await tryCommand('sh', ['-c', `command -v ${tool}`]);
    if (found.code !== 0) problems.push(`${tool} is not installed: apt-get install ${neededPackages.join(' ')}`);
  }
  if (problems.length > 0) return problems;
  return [...(await failedProbes()), ...(await forwardingBlocker())];
}

async function failedProbes(): Promise<readonly string[]> {
  await mkdir(stateRoot, { recursive: true });
  await sweepProbes();
  const failed: string[] = [];
  for (const { what, remedy, script } of probes) {
    const folder = await mkdtemp(path.join(stateRoot, probePrefix));
    try {
      const namespaces = ['--mount', '--net', '--pid', '--uts', '--ipc', '--cgroup', '--fork', '--mount-proc'];
      const { code, stderr } = await tryCommand('unshare', [...namespaces, 'sh', '-euc', script, 'sh', folder]);
      if (code !== 0) failed.push(`${what} (${stderr.trim().split('\n').at(-1) ?? ''}): ${remedy}`);
      // Without namespaces every further probe fails for the same reason.
      if (code !== 0 && script === 'true') break;
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
  return failed;
}

/** Removes what probes have left that were killed; one that still runs takes seconds. */
async function sweepProbes(): Promise<void> {
  for (const entry of await readdir(stateRoot)) {
    const folder = path.join(stateRoot, entry);
    if (!entry.startsWith(probePrefix) || !(await hasRested(folder))) continue;
    await rm(folder, { recursive: true, force: true });
  }
}

async function hasRested(folder: string): Promise<boolean> {
  return stat(folder).then(
    ({ mtimeMs }) => Date.now() - mtimeMs > 600_000,
    (error: unknown) => {
      // Its own probe has removed it since.
      if (isMissing(error)) return false;
      throw error;
    },
  );
}

const probePrefix = '.probe-';

/** A host that filters bridged packets and drops what it would forward cuts machines off from each other. */
async function forwardingBlocker(): Promise<readonly string[]> {
  const filtered = await readFile('/proc/sys/net/bridge/bridge-nf-call-iptables', 'utf8').catch(() => '0');
  if (filtered.trim() !== '1') return [];
  const { stdout } = await tryCommand('iptables', ['-S', 'FORWARD']);
  const accepted = stdout.split('\n').some((rule) => rule.includes('-i stw+ -o stw+ -j ACCEPT'));
  if (!stdout.includes('-P FORWARD DROP') || accepted) return [];
  return [
    'the host drops packets between bridged machines (Docker sets this up): iptables -I FORWARD -i stw+ -o stw+ -j ACCEPT',
  ];
}

/** Modules that are not loaded by their first use. */
async function loadModules(): Promise<void> {
  const modules = ['overlay', 'bridge', 'br_netfilter', 'veth', 'nf_conntrack'];
  // If they are built in, or there is no modprobe, this fails without consequence: the probes find what is really missing.
  await tryCommand('sh', ['-c', `for name in ${modules.join(' ')}; do modprobe -q $name; done`]);
}

/** Like `preflight`, and throws with everything that is missing. */
export async function requirePreflight(progress?: Progress): Promise<void> {
  const problems = await preflight(progress);
  if (problems.length === 0) return;
  throw new Error(`This host cannot run machines:\n${problems.map((problem) => `- ${problem}`).join('\n')}`);
}
