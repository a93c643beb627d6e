import type { KubernetesVersion } from './versions.ts';

/** The fields that callers merge into; the others are plain. */
export interface KubeletDefaults extends Readonly<Record<string, unknown>> {
  readonly authentication: Readonly<Record<string, unknown>>;
}

/** The flush frequency in nanoseconds is the only form that every supported kubelet reads. */
const logging = (options: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> => ({
  flushFrequency: 5_000_000_000,
  format: 'text',
  options,
  verbosity: 0,
});

/** The kubelet's defaults that all supported minors share (pkg/kubelet/apis/config/v1beta1/defaults.go). */
const common: KubeletDefaults = {
  address: '0.0.0.0',
  authentication: {
    anonymous: { enabled: false },
    webhook: { cacheTTL: '2m0s', enabled: true },
  },
  authorization: { mode: 'Webhook', webhook: { cacheAuthorizedTTL: '5m0s', cacheUnauthorizedTTL: '30s' } },
  cgroupsPerQOS: true,
  configMapAndSecretChangeDetectionStrategy: 'Watch',
  containerLogMaxFiles: 5,
  containerLogMaxSize: '10Mi',
  containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock',
  contentType: 'application/vnd.kubernetes.protobuf',
  cpuCFSQuota: true,
  cpuCFSQuotaPeriod: '100ms',
  cpuManagerPolicy: 'none',
  cpuManagerReconcilePeriod: '10s',
  enableControllerAttachDetach: true,
  enableDebugFlagsHandler: true,
  enableDebuggingHandlers: true,
  enableProfilingHandler: true,
  enableServer: true,
  enableSystemLogHandler: true,
  enforceNodeAllocatable: ['pods'],
  eventBurst: 100,
  eventRecordQPS: 50,
  evictionPressureTransitionPeriod: '5m0s',
  failSwapOn: true,
  fileCheckFrequency: '20s',
  hairpinMode: 'promiscuous-bridge',
  healthzBindAddress: '127.0.0.1',
  healthzPort: 10248,
  httpCheckFrequency: '20s',
  imageGCHighThresholdPercent: 85,
  imageGCLowThresholdPercent: 80,
  imageMaximumGCAge: '0s',
  imageMinimumGCAge: '2m0s',
  iptablesDropBit: 15,
  iptablesMasqueradeBit: 14,
  kubeAPIBurst: 100,
  kubeAPIQPS: 50,
  localStorageCapacityIsolation: true,
  logging: logging({ json: { infoBufferSize: '0' } }),
  makeIPTablesUtilChains: true,
  maxOpenFiles: 1_000_000,
  maxPods: 110,
  memoryManagerPolicy: 'None',
  memorySwap: {},
  memoryThrottlingFactor: 0.9,
  nodeLeaseDurationSeconds: 40,
  nodeStatusMaxImages: 50,
  nodeStatusReportFrequency: '5m0s',
  nodeStatusUpdateFrequency: '10s',
  oomScoreAdj: -999,
  podPidsLimit: -1,
  port: 10250,
  registerNode: true,
  registryBurst: 10,
  registryPullQPS: 5,
  runtimeRequestTimeout: '2m0s',
  seccompDefault: false,
  serializeImagePulls: true,
  shutdownGracePeriod: '0s',
  shutdownGracePeriodCriticalPods: '0s',
  streamingConnectionIdleTimeout: '4h0m0s',
  syncFrequency: '1m0s',
  topologyManagerPolicy: 'none',
  topologyManagerScope: 'container',
  volumePluginDir: '/usr/libexec/kubernetes/kubelet-plugins/volume/exec/',
  volumeStatsAggPeriod: '1m0s',
};

/** The fields that each minor introduced; later entries win. */
const since: readonly (readonly [minor: number, fields: Readonly<Record<string, unknown>>])[] = [
  [
    30,
    {
      containerLogMaxWorkers: 1,
      containerLogMonitorInterval: '10s',
      logging: logging({ json: { infoBufferSize: '0' }, text: { infoBufferSize: '0' } }),
      podLogsDir: '/var/log/pods',
    },
  ],
  [31, { failCgroupV1: false }],
  [32, { crashLoopBackOff: {} }],
  [33, { mergeDefaultEvictionSettings: false }],
  [35, { failCgroupV1: true }],
  [36, { memoryReservationPolicy: 'None' }],
];

/**
 * The defaults of a kubelet of this minor, explicit. Omitted are `resolvConf`, which kubeadm sets per node; `cgroupDriver`, which
 * kubeadm always sets; and fields that depend on a feature gate (`crashLoopBackOff.maxContainerRestartPeriod`,
 * `imagePullCredentialsVerificationPolicy`): kubelets may be three minors older, and one whose gate is disabled refuses to start
 * with them.
 */
export function kubeletDefaults({ minor }: KubernetesVersion): KubeletDefaults {
  const newer = since.filter(([first]) => minor >= first).map(([, fields]) => fields);
  return Object.assign({}, common, ...newer) as KubeletDefaults;
}
