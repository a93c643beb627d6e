/** What a kube-apiserver counts, as far as its use is read from it. */
export interface CountedRequests {
  /** Requests by FlowSchema. */
  readonly requests?: Readonly<Record<string, number>>;
  readonly connects?: number;
  /** Open watches by resource. */
  readonly watches?: Readonly<Record<string, number>>;
  /** Other requests that run, by subresource of pods. */
  readonly streams?: Readonly<Record<string, number>>;
}

/** The part of `/metrics` of a kube-apiserver that says how it is used, and what is before and after it. */
export function apiServerMetrics({ requests = {}, connects = 0, watches = {}, streams = {} }: CountedRequests): string {
  const running = (verb: string, resource: string, subresource: string, count: number): string =>
    `apiserver_longrunning_requests{component="apiserver",group="",resource="${resource}",scope="cluster",subresource="${subresource}",verb="${verb}",version="v1"} ${count}`;
  return [
    '# HELP aggregator_unavailable_apiservice [ALPHA] Gauge of APIServices which are marked as unavailable.',
    '# TYPE aggregator_unavailable_apiservice gauge',
    'aggregator_unavailable_apiservice{name="v1."} 0',
    '# HELP apiserver_admission_step_admission_duration_seconds [STABLE] Admission sub-step latency histogram.',
    '# TYPE apiserver_admission_step_admission_duration_seconds histogram',
    'apiserver_admission_step_admission_duration_seconds_bucket{operation="CONNECT",rejected="false",type="admit",le="+Inf"} 7',
    'apiserver_admission_step_admission_duration_seconds_count{operation="CREATE",rejected="false",type="admit"} 12',
    ...(connects === 0
      ? []
      : [
          `apiserver_admission_step_admission_duration_seconds_count{operation="CONNECT",rejected="false",type="admit"} ${connects}`,
        ]),
    '# HELP apiserver_flowcontrol_dispatched_requests_total [BETA] Number of requests executed by API Priority and Fairness subsystem',
    '# TYPE apiserver_flowcontrol_dispatched_requests_total counter',
    ...Object.entries(requests).map(
      ([flow, count]) =>
        `apiserver_flowcontrol_dispatched_requests_total{flow_schema="${flow}",priority_level="any"} ${count}`,
    ),
    '# HELP apiserver_longrunning_requests [STABLE] Gauge of all active long-running apiserver requests.',
    '# TYPE apiserver_longrunning_requests gauge',
    ...Object.entries(watches).map(([resource, count]) => running('WATCH', resource, '', count)),
    ...Object.entries(streams).map(([subresource, count]) => running('CONNECT', 'pods', subresource, count)),
    '# HELP apiserver_request_total [STABLE] Counter of apiserver requests.',
    '# TYPE apiserver_request_total counter',
    'apiserver_request_total{code="200",resource="pods",verb="GET"} 99',
    '',
  ].join('\n');
}
