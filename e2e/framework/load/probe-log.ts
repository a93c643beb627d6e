/** What a container of `apiServerProbe` has called. */
export interface ProbeLog {
  readonly calls: number;
  /** The error of each call that failed. */
  readonly failed: readonly string[];
}

/** Reads the log of `agnhost inclusterclient`, which tells each call before it is made, and the error of one that failed. */
export function readProbeLog(log: string): ProbeLog {
  const lines = log.split('\n');
  const failure = /\] error checking \/healthz: (.*)$/;
  return {
    calls: lines.filter((line) => line.endsWith('] calling /healthz')).length,
    failed: lines.flatMap((line) => failure.exec(line)?.[1] ?? []),
  };
}
