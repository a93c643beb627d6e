/** What was found out about the data of a tenant since the manager started. */
export interface DataMeasurement {
  /** The last measurement of what it stores that succeeded. */
  readonly found?: { readonly bytes: number; readonly keys: number; readonly time: Date };
  /** Why the last attempt did not. */
  readonly failure?: string;
  /** Absent before its writes were counted, or could not be. */
  readonly writes?: WritesMeasurement;
}

/** What was found out about the writes of a tenant. */
export interface WritesMeasurement {
  /** The last count that succeeded. */
  readonly found?: {
    /** Of the limit that this was found for. */
    readonly limit: number;
    /** On average over the last minute; absent after one count. */
    readonly perSecond?: number;
    /** True until the tenant may write again. */
    readonly isEmpty: boolean;
    /** True while it went on far beyond its limit. */
    readonly isOverdrawn: boolean;
    /** When it may, if it writes nothing until then. */
    readonly refilled: Date;
    readonly time: Date;
  };
  /** Why the last attempt did not. */
  readonly failure?: string;
}
