/** The program itself: processor time, memory, files, start and build; the same for all of them. */
const ofProcess = [
  'process_cpu_seconds_total',
  'process_open_fds',
  'process_resident_memory_bytes',
  'process_start_time_seconds',
  'go_goroutines',
  'kubernetes_build_info',
];

/** Its requests to the API server, and whether it leads. */
const ofClient = ['rest_client_requests_total', 'leader_election_master_status'];

/**
 * The names of metrics that Prometheus keeps of each component. Others are dropped: kube-apiserver alone has more than ten thousand series,
 * most of them buckets. And a control plane may run an image of its author, which must not pass its series off as those of another component:
 * these names are used only by components of Kubernetes.
 */
export const keptMetrics = {
  apiServer: [
    ...ofProcess,
    'apiserver_current_inflight_requests',
    'apiserver_flowcontrol_current_inqueue_requests',
    'apiserver_flowcontrol_rejected_requests_total',
    'apiserver_request_total',
    'apiserver_request_sli_duration_seconds_(sum|count)',
    'apiserver_storage_size_bytes',
    'apiserver_tls_handshake_errors_total',
  ],
  controllerManager: [
    ...ofProcess,
    ...ofClient,
    'node_collector_unhealthy_nodes_in_zone',
    'workqueue_(adds|retries)_total',
    'workqueue_depth',
  ],
  scheduler: [
    ...ofProcess,
    ...ofClient,
    'scheduler_pending_pods',
    'scheduler_schedule_attempts_total',
    'scheduler_scheduling_attempt_duration_seconds_(sum|count)',
  ],
} as const;

/** API groups of Kubernetes itself: a tenant can add any number of others. */
export const keptGroups = '(|apps|autoscaling|batch|events|extensions|policy|[a-z.]+[.]k8s[.]io)';

/** More samples than these metrics have in a control plane without thousands of kinds: with more, the scrape fails. */
export const mostSamples = 5000;
