/** One cgroup hierarchy of the host in which every machine gets a cgroup of its own. */
export interface CgroupHierarchy {
  /** Where the host has it mounted. */
  readonly mountPoint: string;
  /** File system type. */
  readonly type: 'cgroup' | 'cgroup2';
  /** What `mount -o` needs to mount the same hierarchy again; empty for cgroup2. */
  readonly options: string;
  /** Folder name under a machine's `/sys/fs/cgroup`; empty: `/sys/fs/cgroup` itself. */
  readonly folder: string;
  /** Controllers of this hierarchy; empty for named ones. */
  readonly controllers: readonly string[];
}

/** How machines are put into cgroups on this host. */
export interface CgroupPlan {
  /** 1: controllers are mounted one by one (also "hybrid"); 2: one unified hierarchy. */
  readonly version: 1 | 2;
  readonly hierarchies: readonly CgroupHierarchy[];
}

/** Controllers without which the kubelet does not start. */
export const neededControllers = ['cpu', 'cpuset', 'memory', 'pids'] as const;

/** Controllers that are passed on to machines where they exist. */
const usefulControllers: ReadonlySet<string> = new Set([...neededControllers, 'io', 'hugetlb']);

/** Every cgroup of ours begins so, in every hierarchy. */
export const cgroupPrefix = 'steward-e2e.';

/** Name of a machine's cgroup, the same in every hierarchy. */
export function cgroupName(harness: string, machine: string): string {
  return `${cgroupPrefix}${harness}.${machine}`;
}

const genericOptions = new Set(['rw', 'ro', 'xattr', 'noprefix', 'clone_children', 'nosuid', 'nodev', 'noexec']);

/**
 * Reads the plan from the text of `/proc/self/mountinfo` (proc(5)) and, for a unified hierarchy, of its
 * `cgroup.controllers`.
 * @throws Error naming what is missing and what helps.
 */
export function planCgroups(mountInfo: string, unifiedControllers = ''): CgroupPlan {
  const mounts = mountInfo.split('\n').flatMap(readMount);
  const v1 = mounts.filter((mount) => mount.type === 'cgroup' && mount.controllers.length > 0);
  const unified = mounts.find((mount) => mount.type === 'cgroup2');
  const plan: CgroupPlan =
    v1.length > 0
      ? { version: 1, hierarchies: mounts }
      : {
          version: 2,
          hierarchies:
            unified === undefined ? [] : [{ ...unified, folder: '', controllers: usefulIn(unifiedControllers) }],
        };
  const present = new Set(plan.hierarchies.flatMap((hierarchy) => hierarchy.controllers));
  const missing = neededControllers.filter((controller) => !present.has(controller));
  if (missing.length === 0) return plan;
  throw new Error(
    `cgroup controllers ${missing.join(', ')} are not available (found: ${[...present].join(', ') || 'none'}). ` +
      'Mount them under /sys/fs/cgroup; inside a container start it privileged with --cgroupns=host.',
  );
}

function readMount(line: string): CgroupHierarchy[] {
  const [before, after] = line.split(' - ');
  if (before === undefined || after === undefined) return [];
  const mountPoint = before.split(' ')[4];
  const [type, , superOptions] = after.split(' ');
  if (mountPoint?.startsWith('/sys/fs/cgroup') !== true || (type !== 'cgroup' && type !== 'cgroup2')) return [];
  const folder = mountPoint.slice(mountPoint.lastIndexOf('/') + 1);
  if (type === 'cgroup2') return [{ mountPoint, type, options: '', folder, controllers: [] }];
  const options = (superOptions ?? '')
    .split(',')
    .filter((option) => !genericOptions.has(option) && !option.startsWith('release_agent='));
  const named = options.filter((option) => option.startsWith('name='));
  const controllers = options.filter((option) => !option.includes('='));
  return [
    {
      mountPoint,
      type,
      options: named.length > 0 && controllers.length === 0 ? ['none', ...named].join(',') : options.join(','),
      folder,
      controllers,
    },
  ];
}

function usefulIn(text: string): string[] {
  return text.split(/\s+/).filter((word) => usefulControllers.has(word));
}
