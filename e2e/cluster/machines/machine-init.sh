#!/bin/bash
# Process 1 of a machine. Killing it ends everything that runs in the machine.
# Environment: FOLDER (the machine's own folder on the host), NAME, ADDRESS, GATEWAY, CGROUP_VERSION,
# CGROUP_MOUNTS ("folder=options" words, version 1 only), BINARIES, CNI_PLUGINS, KUBELET_ARGS.
set -eu
umask 022
trap 'echo "machine init failed at line $LINENO: $BASH_COMMAND"' ERR
seed=$FOLDER

hostname "$NAME"

# A root of its own: the host's programs and settings below an overlay, everything else empty. What is written stays in
# the machine's folder.
root=$FOLDER/rootfs
mkdir -p "$root"
mount --bind "$root" "$root"
for entry in /bin /sbin /lib /lib32 /lib64 /libx32 /usr /etc; do
  if [ -L "$entry" ]; then
    cp -P "$entry" "$root$entry"
  elif [ -d "$entry" ]; then
    mkdir -p "$root$entry" "$FOLDER/upper$entry" "$FOLDER/work$entry"
    mount -t overlay overlay -o "lowerdir=$entry,upperdir=$FOLDER/upper$entry,workdir=$FOLDER/work$entry" "$root$entry"
  fi
done
cd "$root"
mkdir -p proc sys dev run tmp root home mnt srv opt/cni/bin var/lib var/log var/cache var/tmp usr/local/bin old
chmod 1777 tmp var/tmp
chmod 0700 root
[ -e var/run ] || ln -s /run var/run
mount -t proc proc proc
mount -t sysfs sysfs sys
mount --rbind /dev dev
mount -t tmpfs -o mode=755 tmpfs run
mkdir -p run/lock run/machine
[ -e var/lock ] || ln -s /run/lock var/lock
mount --bind "$FOLDER" run/machine
mount --bind "$BINARIES" usr/local/bin
mount --bind "$CNI_PLUGINS" opt/cni/bin
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
pivot_root . old
umount -R -l /old
rmdir /old
FOLDER=/run/machine

if [ "$CGROUP_VERSION" = 2 ]; then
  mount -t cgroup2 cgroup2 /sys/fs/cgroup
  for controller in $(cat /sys/fs/cgroup/cgroup.controllers); do
    echo "+$controller" > /sys/fs/cgroup/cgroup.subtree_control
  done
else
  mount -t tmpfs -o mode=755 tmpfs /sys/fs/cgroup
  for word in $CGROUP_MOUNTS; do
    target=/sys/fs/cgroup/${word%%=*}
    mkdir "$target"
    mount -t cgroup -o "${word#*=}" cgroup "$target"
    # Controllers that share a mount are also looked for under their own names.
    case ${word%%=*} in
      *,*) for name in $(echo "${word%%=*}" | tr , ' '); do ln -s "${word%%=*}" "/sys/fs/cgroup/$name"; done ;;
    esac
  done
fi

# The kubelet sets these and none of them belongs to a namespace: it must not reach the host's.
mkdir -p "$FOLDER/sysctl"
keep_host_value() { # keep_host_value <key> <what the kubelet wants to read>
  if [ -e "/proc/sys/$1" ]; then
    echo "$2" > "$FOLDER/sysctl/${1##*/}"
    mount --bind "$FOLDER/sysctl/${1##*/}" "/proc/sys/$1"
  fi
}
keep_host_value vm/overcommit_memory 1
keep_host_value vm/panic_on_oom 0
keep_host_value kernel/panic 10
keep_host_value kernel/panic_on_oops 1
keep_host_value kernel/keys/root_maxkeys 1000000
keep_host_value kernel/keys/root_maxbytes 25000000

rm -rf /etc/kubernetes /etc/cni /etc/containerd /etc/hostname /etc/machine-id /etc/resolv.conf /etc/hosts
mkdir -p /etc/kubernetes/manifests /etc/cni/net.d /etc/containerd
echo "$NAME" > /etc/hostname
printf '127.0.0.1 localhost\n::1 localhost\n%s %s\n' "$ADDRESS" "$NAME" > /etc/hosts
printf 'nameserver %s\n' "$GATEWAY" > /etc/resolv.conf
echo -n "$seed" | md5sum | cut -c1-32 > /etc/machine-id
cp "$FOLDER/containerd.toml" /etc/containerd/config.toml

# The kubelet wants mounts to spread to its containers; inside this namespace only.
mount --make-rshared /

touch "$FOLDER/mounted"
while [ ! -e "$FOLDER/plugged" ]; do sleep 0.02; done
echo 1 > /proc/sys/net/ipv4/ip_forward
for key in bridge-nf-call-iptables bridge-nf-call-ip6tables; do
  if [ -e "/proc/sys/net/bridge/$key" ]; then echo 1 > "/proc/sys/net/bridge/$key"; fi
done

# Go collects garbage less often, as in the control plane of the management cluster; containers do not inherit it.
export GOGC=300

( while [ ! -e "$FOLDER/containerd-stopped" ]; do
    containerd --config /etc/containerd/config.toml >> /var/log/containerd.log 2>&1 || true
    sleep 0.5
  done ) &

# The kubelet's service: runs as soon as kubeadm has written its configuration, and again whenever it ends. A file that is
# there may still be empty.
( while :; do
    until [ -s /var/lib/kubelet/config.yaml ] && grep -qs '^KUBELET_KUBEADM_ARGS=".*"$' /var/lib/kubelet/kubeadm-flags.env; do
      sleep 0.1
    done
    . /var/lib/kubelet/kubeadm-flags.env
    eval kubelet --bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf \
      --kubeconfig=/etc/kubernetes/kubelet.conf --config=/var/lib/kubelet/config.yaml \
      "$KUBELET_KUBEADM_ARGS" "$KUBELET_ARGS" >> /var/log/kubelet.log 2>&1 || true
    sleep 0.5
  done ) &

trap - ERR
set +e
touch "$FOLDER/up"
while :; do wait; sleep 3600 & wait; done
