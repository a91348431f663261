import type { StoryStep } from '../example.ts';

const TOKENS = '/api/v1/tokens';

export const TOKEN_STEPS: readonly StoryStep[] = [
  {
    name: 'create-token',
    operation: `POST ${TOKENS}`,
    title: 'A token for a pipeline',
    body: { name: 'pipeline', scope: 'write', 'expires-at': null },
    status: 201,
  },
  {
    name: 'create-token-refused',
    operation: `POST ${TOKENS}`,
    title: 'A scope that there is not',
    body: { name: 'pipeline', scope: 'everything' },
    status: 400,
  },
  { name: 'list-tokens', operation: `GET ${TOKENS}`, title: 'All tokens', status: 200 },
  {
    name: 'delete-token',
    operation: `DELETE ${TOKENS}/{tokenId}`,
    title: 'The token of the pipeline',
    path: { tokenId: '2' },
    status: 204,
  },
  {
    name: 'delete-last-admin-token',
    operation: `DELETE ${TOKENS}/{tokenId}`,
    title: 'The last token that may make others',
    path: { tokenId: '1' },
    status: 409,
  },
  {
    name: 'without-token',
    operation: `GET ${TOKENS}`,
    title: 'No token',
    isAnonymous: true,
    status: 401,
  },
];
