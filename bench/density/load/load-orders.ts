import type { LoadTenant } from './load-cycle.ts';
import type { TenantLoadOptions } from './tenant-load.ts';
import type { WriteSamples } from './write-samples.ts';

/** What a process that makes load is asked to do. */
export type LoadOrder =
  | { readonly is: 'add'; readonly tenant: LoadTenant; readonly options: Omit<TenantLoadOptions, 'isMeasured'> }
  /** With all that were added: what is under way goes on. */
  | { readonly is: 'load' }
  /** The measured time begins and ends. */
  | { readonly is: 'begin' }
  | { readonly is: 'end' };

/** What it answers. */
export type LoadAnswer =
  | { readonly is: 'added'; readonly number: number; readonly failure?: string }
  | { readonly is: 'loading' }
  | { readonly is: 'begun' }
  | { readonly is: 'ended'; readonly samples: WriteSamples };
