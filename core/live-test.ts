import { GNMI_FAULT_CODES, type GnmiFaultCode } from '../protocols/gnmi/grpc-status.ts';
import { SNMP_FAULT_CODES, type SnmpFaultCode } from '../protocols/snmp/fault.ts';

/** One live test on its way to a worker. */
export interface LiveTestJob {
  readonly id: string;
  readonly modelId: number;
  readonly deviceId: number;
  readonly mappingId: number;
  readonly requestedAt: string;
}

/** What a device gets for one test. */
export const LIVE_TEST_MILLISECONDS = 20_000;

/** Why a test brought nothing; stable, for programs: what each protocol can find, and no others. */
export const FAULT_CODES = [...new Set([...GNMI_FAULT_CODES, ...SNMP_FAULT_CODES])];

export type FaultCode = GnmiFaultCode | SnmpFaultCode;

export interface Fault {
  readonly code: FaultCode;
  /** One plain sentence for the person who has to find out. */
  readonly detail: string;
}

export interface RawUpdate {
  readonly timestamp: string;
  readonly path: string;
  readonly type: string;
  /** As text, whatever its type: nothing here may lose a digit. */
  readonly value: string;
}

export interface LiveTestExplanation {
  readonly protocol: 'gnmi' | 'snmp';
  readonly rpc: string;
  readonly encoding: string;
  readonly sync: boolean;
  readonly updates: number;
  readonly ms: number;
  readonly fields: ReadonlyArray<{
    readonly field: string;
    readonly path: string;
    /** From 1. */
    readonly alternative: number;
    readonly updates: number;
    readonly 'coercion-errors': ReadonlyArray<{ readonly code: string; readonly count: number }>;
  }>;
  readonly 'unmatched-paths': readonly string[];
  /** Paths that were not asked for, because they cannot be read. Absent when there are none. */
  readonly 'skipped-paths'?: ReadonlyArray<{
    readonly field: string;
    readonly path: string;
    readonly code: string;
    readonly detail: string;
  }>;
  /** More came than is shown. */
  readonly truncated?: boolean;
  /** gNMI: what the target says that it can send. */
  readonly 'advertised-encodings'?: readonly string[];
  /** gNMI: each way of asking that gave nothing, with why. */
  readonly attempts?: ReadonlyArray<{
    readonly rpc: string;
    readonly encoding: string;
    readonly reason: string;
  }>;
}

/** What a protocol's driver found. */
export interface LiveTestFindings {
  /** Null: the device was asked and answered in order, even if with nothing. */
  readonly error: Fault | null;
  /** JSON texts `{"path","key","timestamp","data"}`, as the mapping engine wrote them. */
  readonly parsedResults: readonly string[];
  readonly rawUpdates: readonly RawUpdate[];
  readonly explanation: LiveTestExplanation;
}

export interface LiveTestSubject {
  readonly deviceId: number;
  readonly device: string;
  readonly mappingId: number;
  readonly modelName: string;
  readonly modelVersion: string;
}

/** Longest answer before compression; what is beyond is cut and said to be. */
const MAX_RESULT_CHARACTERS = 1_500_000;

/** The answer of a test as JSON text: rows go in as they were written, so that no number is read again. */
export function formatLiveTest(subject: LiveTestSubject, findings: LiveTestFindings): string {
  const budget = { left: MAX_RESULT_CHARACTERS };
  const parsed = withinBudget(findings.parsedResults, budget);
  const raw = withinBudget(
    findings.rawUpdates.map((update) => JSON.stringify(update)),
    budget,
  );
  const isCut =
    findings.explanation.truncated === true ||
    parsed.length < findings.parsedResults.length ||
    raw.length < findings.rawUpdates.length;
  const outcome = findings.error !== null ? 'failed' : findings.parsedResults.length === 0 ? 'empty' : 'ok';
  const head = JSON.stringify({
    'device-id': subject.deviceId,
    device: subject.device,
    'mapping-id': subject.mappingId,
    'model-name': subject.modelName,
    'model-version': subject.modelVersion,
    outcome,
    error: findings.error,
  });
  const explanation = JSON.stringify({ ...findings.explanation, truncated: isCut });
  return `${head.slice(0, -1)},"parsed-results":[${parsed.join(',')}],"raw-updates":[${raw.join(',')}],"explanation":${explanation}}`;
}

function withinBudget(texts: readonly string[], budget: { left: number }): string[] {
  const kept: string[] = [];
  for (const text of texts) {
    budget.left -= text.length + 1;
    if (budget.left < 0) break;
    kept.push(text);
  }
  return kept;
}
