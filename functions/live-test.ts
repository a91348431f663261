import { randomUUID } from 'node:crypto';
import { validateBody } from '../core/body.ts';
import { LIVE_TEST_MILLISECONDS } from '../core/live-test.ts';
import { liveTestBody } from '../core/live-test-request.ts';
import type { Model } from '../core/model.ts';
import { invalidBody, type MemberError, Problem } from '../core/problem.ts';
import { getDevice } from '../store/device-store.ts';
import { getJobResult, sendJob } from '../store/job-queue.ts';
import type { ApiRequest, ApiResponse } from './http.ts';
import { findLiveWorkers } from './live-workers.ts';

/** A worker takes the job within the queue's wait, tests for its budget and writes the result; the gateway ends at 30 s. */
const WAIT_MILLISECONDS = LIVE_TEST_MILLISECONDS + 5_000;
const POLL_MILLISECONDS = 150;

/** Has a worker test a mapping against a device and answers with what it found. */
export async function runLiveTest(
  request: ApiRequest,
  existingModel: () => Promise<Model>,
): Promise<ApiResponse> {
  const asked = validateBody(liveTestBody, [], request.body);
  const model = await existingModel();
  const deviceId = asked['device-id'];
  const mappingId = asked['mapping-id'];
  const errors: MemberError[] = [];
  const isDevice = deviceId > 0 && (await getDevice(deviceId)) !== undefined;
  if (!isDevice) {
    errors.push({
      pointer: '/device-id',
      code: 'unknown-reference',
      detail: `there is no device ${deviceId}`,
    });
  }
  if (!model.mappings.some(({ id }) => id === mappingId)) {
    const detail = `model ${model.id} has no mapping ${mappingId}`;
    errors.push({ pointer: '/mapping-id', code: 'unknown-reference', detail });
  }
  if (errors.length > 0) throw invalidBody(errors);
  if ((await findLiveWorkers(request.now)).size === 0) {
    throw new Problem('no-worker', 'no worker runs, and only workers talk to devices', {
      retryAfterSeconds: 5,
    });
  }
  const id = randomUUID();
  await sendJob({ id, modelId: model.id, deviceId, mappingId, requestedAt: request.now.toISOString() });
  const deadline = request.now.getTime() + WAIT_MILLISECONDS;
  while (Date.now() < deadline) {
    const result = await getJobResult(id);
    if (result !== undefined) {
      return { status: 200, headers: { 'content-type': 'application/json' }, body: result };
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MILLISECONDS));
  }
  throw new Problem('busy', 'no worker finished the test in time; try again', { retryAfterSeconds: 5 });
}
