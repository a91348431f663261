import { KEEP_MILLISECONDS, type RotationResult, rotateKeyring } from '../store/keyring-rotation.ts';
import { log } from './log.ts';

export interface RotateKeyringEvent {
  /** Days for which a replaced key is kept; 35 when absent. */
  readonly 'keep-days'?: number;
}

/** Invoked by a schedule, or by a person. May run at any time, also twice at once, and again after a failure. */
export async function handler(event: RotateKeyringEvent): Promise<RotationResult> {
  const days = event['keep-days'];
  if (days !== undefined && !(Number.isInteger(days) && days >= 0 && days <= 3_650)) {
    throw new Error('keep-days is a whole number from 0 to 3650');
  }
  const result = await rotateKeyring(new Date(), days === undefined ? KEEP_MILLISECONDS : days * 86_400_000);
  log(result.unreadable.length > 0 ? 'error' : 'info', 'keyring rotated', { ...result });
  return result;
}
