/** Where containerd reads, at each pull, which host stands in for a registry: `<registry>/hosts.toml`. */
export const registriesFolder = '/etc/containerd/certs.d';

/**
 * containerd's configuration (version 3) for a machine. Scores of the out-of-memory killer are never lowered, because
 * the host may lack CAP_SYS_RESOURCE; cgroups are driven directly, because there is no systemd in a machine.
 * @param pauseImage image of pod sandboxes, kept from garbage collection.
 */
export function containerdConfig(pauseImage: string): string {
  return `version = 3
root = "/var/lib/containerd"
state = "/run/containerd"
oom_score = 0
disabled_plugins = [
  "io.containerd.snapshotter.v1.btrfs",
  "io.containerd.snapshotter.v1.zfs",
  "io.containerd.snapshotter.v1.devmapper",
  "io.containerd.nri.v1.nri",
]
[grpc]
  address = "/run/containerd/containerd.sock"
[plugins.'io.containerd.cri.v1.runtime']
  restrict_oom_score_adj = true
  [plugins.'io.containerd.cri.v1.runtime'.containerd]
    default_runtime_name = "runc"
    [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
        SystemdCgroup = false
  [plugins.'io.containerd.cri.v1.runtime'.cni]
    bin_dirs = ["/opt/cni/bin"]
    conf_dir = "/etc/cni/net.d"
[plugins.'io.containerd.cri.v1.images']
  snapshotter = "overlayfs"
  [plugins.'io.containerd.cri.v1.images'.pinned_images]
    sandbox = "${pauseImage}"
  [plugins.'io.containerd.cri.v1.images'.registry]
    config_path = "${registriesFolder}"
`;
}
