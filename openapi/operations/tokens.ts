import { newTokenAnswer, tokenAnswer } from '../../core/token-answer.ts';
import { TOKEN_READ_ONLY, tokenRequest } from '../../core/token-request.ts';
import { type OperationDocuments, PAGE } from '../operation.ts';

export const TOKEN_OPERATIONS: OperationDocuments = {
  'GET /api/v1/tokens': {
    id: 'listTokens',
    summary: 'List the tokens',
    query: PAGE,
    answer: {
      status: 200,
      description: 'The tokens in the order of their ids, never the secrets themselves',
      body: { name: 'Token', schema: tokenAnswer },
      isList: true,
      headers: ['Link'],
    },
  },
  'POST /api/v1/tokens': {
    id: 'createToken',
    summary: 'Create a token',
    description: 'Scopes nest: `admin` may do what `write` may, and `write` what `read` may.',
    request: { name: 'TokenRequest', schema: tokenRequest, readOnly: TOKEN_READ_ONLY },
    answer: {
      status: 201,
      description: 'The token; this is the only answer that holds it',
      body: { name: 'NewToken', schema: newTokenAnswer },
      headers: ['Location'],
    },
  },
  'DELETE /api/v1/tokens/{tokenId}': {
    id: 'deleteToken',
    summary: 'Revoke a token',
    description: 'It is refused everywhere within ten seconds.',
    answer: { status: 204, description: 'The token is gone' },
    problems: ['last-admin-token'],
  },
};
