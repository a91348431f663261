import { engineAnswer, healthAnswer } from '../../core/engine-answer.ts';
import { ENGINE_READ_ONLY, engineConfiguration } from '../../core/engine-request.ts';
import { OPEN_METRICS_TYPE } from '../../core/open-metrics.ts';
import type { NamedSchema, OperationDocuments } from '../operation.ts';

const ENGINE: NamedSchema = { name: 'Engine', schema: engineAnswer };
const HEALTH: NamedSchema = { name: 'Health', schema: healthAnswer };

export const ENGINE_OPERATIONS: OperationDocuments = {
  'GET /api/engine': {
    id: 'getEngine',
    summary: "Show the engine's settings and its workers",
    answer: { status: 200, description: 'The settings in force', body: ENGINE, headers: ['ETag'] },
    problems: ['no-worker'],
  },
  'PUT /api/engine': {
    id: 'replaceEngine',
    summary: "Replace the engine's settings",
    description:
      'Full replace: zero and empty stand for the defaults; an empty `router-id` keeps the stored one.',
    isConditional: true,
    request: { name: 'EngineRequest', schema: engineConfiguration, readOnly: ENGINE_READ_ONLY },
    answer: { status: 200, description: 'The settings in force', body: ENGINE, headers: ['ETag'] },
    problems: ['no-worker'],
  },
  'GET /api/metrics': {
    id: 'getMetrics',
    summary: 'Metrics for Prometheus',
    answer: { status: 200, description: 'OpenMetrics text', texts: [OPEN_METRICS_TYPE] },
  },
  'GET /api/health': {
    id: 'getHealth',
    summary: 'Whether a worker runs',
    answer: { status: 200, description: 'A worker runs', body: HEALTH },
    otherAnswers: [{ status: 503, description: 'No worker runs', body: HEALTH }],
  },
  'GET /api/openapi.json': {
    id: 'getOpenApi',
    summary: 'This document',
    answer: { status: 200, description: 'OpenAPI 3.1', texts: ['application/json'] },
  },
};
