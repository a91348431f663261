import type { StoryStep } from '../example.ts';

export const ENGINE_STEPS: readonly StoryStep[] = [
  {
    name: 'get-health',
    operation: 'GET /api/health',
    title: 'A worker runs',
    isAnonymous: true,
    status: 200,
  },
  {
    name: 'get-openapi',
    operation: 'GET /api/openapi.json',
    title: 'The beginning of the document',
    isAnonymous: true,
    status: 200,
    excerpt: 'head',
  },
  { name: 'get-engine', operation: 'GET /api/engine', title: 'Settings and workers', status: 200 },
  {
    name: 'replace-engine',
    operation: 'PUT /api/engine',
    title: 'Another AS for every session that has none of its own',
    body: { 'local-as': '65000', 'router-id': '10.0.0.1', 'stale-time': 300, 'max-nlri': 0 },
    status: 200,
  },
  {
    name: 'replace-engine-refused',
    operation: 'PUT /api/engine',
    title: 'A misspelt member and one out of bounds, both named',
    body: { 'local-as': '65000', 'stale-tme': 300, 'max-nlri': -1 },
    status: 400,
  },
  {
    name: 'get-metrics',
    operation: 'GET /api/metrics',
    title: 'The first family',
    status: 200,
    excerpt: 'head',
  },
];
