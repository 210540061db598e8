/** What a fleet's page is told: the answers of plugin/oom_forensics/fleet/sql, one type per file. */

/** The newest version of the data that this page reads. */
const DATA_VERSION = 1;

export interface FleetData {
  readonly version: number;
  /** Where the tables are. */
  readonly folder: string;
  readonly writtenNs: string;
  readonly program: string;
  /** The queries, by name. */
  readonly sql: Readonly<Record<string, string>>;
  readonly answers: Answers;
}

export interface Answers {
  readonly overview: readonly [Overview];
  readonly ooms_over_time: readonly DayRow[];
  readonly layers: readonly (Deadly & { readonly layer: string })[];
  readonly ops: readonly (Deadly & { readonly op: string })[];
  readonly lines: readonly LineRow[];
  readonly remedies: readonly RemedyRow[];
  readonly reserved: readonly ReservedRow[];
  readonly near_limit: readonly NearLimitRow[];
  readonly incidents: readonly IncidentRow[];
  readonly errors: readonly ErrorRow[];
  readonly quality: readonly QualityRow[];
}

export interface Overview {
  readonly runs: number;
  readonly jobs: number;
  readonly incidents: number;
  readonly jobs_out_of_memory: number;
  readonly errors: number;
  readonly file_bytes: number;
  readonly first_day: string | null;
  readonly last_day: string | null;
}

export interface DayRow {
  readonly day: string;
  readonly verdict: string;
  readonly incidents: number;
}

export interface Deadly {
  readonly incidents: number;
  readonly jobs: number;
  readonly median_request_bytes: number;
  readonly verdict?: string;
}

export interface LineRow extends Deadly {
  readonly file: string;
  readonly line: number;
  readonly function: string;
  readonly text: string;
}

export interface RemedyRow {
  readonly remedy: string;
  readonly example: string;
  readonly incidents: number;
  readonly enough_alone: number;
  readonly request_fits: number;
  readonly median_bytes: number;
}

export interface ReservedRow {
  readonly job: string;
  readonly runs: number;
  readonly limit_bytes: number;
  readonly peak_reserved_bytes: number;
  readonly peak_in_use_bytes: number;
  readonly never_used_bytes: number;
  readonly would_do_bytes: number;
  readonly incidents: number;
}

export interface NearLimitRow {
  readonly job: string;
  readonly runs: number;
  readonly allocator: string;
  readonly closeness: number;
  readonly peak_in_use_bytes: number;
  readonly limit_bytes: number;
  readonly url: string;
}

export interface IncidentRow {
  readonly time_ns: number;
  readonly job: string;
  readonly run: string;
  readonly url: string;
  readonly verdict: string;
  readonly sentence: string;
  readonly op: string;
  readonly requested_bytes: number;
  readonly in_use_bytes: number;
  readonly limit_bytes: number;
  readonly largest_free_bytes: number;
  readonly remedy: string | null;
  readonly sufficiency: string | null;
}

export interface ErrorRow {
  readonly kind: string;
  readonly runs: number;
  readonly example: string;
  readonly url: string;
  readonly exit_code: number | null;
}

export interface QualityRow {
  readonly name: string;
  readonly severity: string;
  readonly runs: number;
  readonly example: string;
}

/** Reads the page's data; throws a sentence where it is of a version that this page cannot read. */
export function parseFleet(text: string): FleetData {
  const data = JSON.parse(text) as FleetData;
  if (data.version !== DATA_VERSION)
    throw new Error(`The data of this page have version ${data.version}, not ${DATA_VERSION}.`);
  return data;
}
