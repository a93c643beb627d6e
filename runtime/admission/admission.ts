import type { Draft } from '../../api/meta.ts';

/** The parts of an AdmissionRequest (admission.k8s.io/v1) that rules are about. */
export interface AdmissionRequest {
  readonly uid: string;
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';
  readonly name?: string;
  readonly namespace?: string;
  readonly subResource?: string;
  readonly userInfo?: {
    readonly username?: string;
    readonly uid?: string;
    readonly groups?: readonly string[];
    readonly extra?: Readonly<Record<string, readonly string[]>>;
  };
  /** Absent for DELETE. */
  readonly object?: Draft | null;
  /** Present for UPDATE and DELETE. */
  readonly oldObject?: Draft | null;
  /** The options of the client's request; for DELETE its DeleteOptions. */
  readonly options?: { readonly propagationPolicy?: string } | null;
  /** Nothing will be stored: a handler must have no effect outside its answer. */
  readonly dryRun?: boolean;
}

/** What a rule says. Warnings are shown to the user by kubectl. */
export type AdmissionAnswer =
  | {
      readonly allowed: true;
      /** The object as it shall be stored; absent: as it came. The difference is sent as a JSON patch. */
      readonly object?: Draft;
      readonly warnings?: readonly string[];
    }
  | {
      readonly allowed: false;
      /** HTTP status for the user; 403 by default. */
      readonly code?: number;
      /** Names field, value, reason and remedy. */
      readonly message: string;
      readonly warnings?: readonly string[];
    };

/** A rule. What it throws denies the request with a message. */
export type AdmissionHandler = (
  request: AdmissionRequest,
  options: { readonly signal: AbortSignal },
) => AdmissionAnswer | Promise<AdmissionAnswer>;

/** The wire form of an answer (admission.k8s.io/v1). */
export interface AdmissionResponse {
  readonly uid: string;
  readonly allowed: boolean;
  readonly status?: { readonly code: number; readonly reason: string; readonly message: string };
  readonly patchType?: 'JSONPatch';
  /** Base64 of the JSON patch. */
  readonly patch?: string;
  readonly warnings?: readonly string[];
}
