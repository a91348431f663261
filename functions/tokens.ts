import { validateBody } from '../core/body.ts';
import { Problem } from '../core/problem.ts';
import { hashToken, viewToken } from '../core/token.ts';
import { TOKEN_READ_ONLY, tokenRequest } from '../core/token-request.ts';
import { newToken } from '../store/setup.ts';
import { createToken, listTokens, removeToken } from '../store/token-store.ts';
import { apiHandler } from './http.ts';
import { idParameter, nextPageLink, readPage } from './preconditions.ts';

export const handler = apiHandler('tokens', {
  'GET /api/v1/tokens': {
    body: 'none',
    run: async (request) => {
      const page = readPage(request);
      const tokens = (await listTokens())
        .filter((token) => token.id > (page.after ?? 0))
        .slice(0, page.limit);
      const headers = nextPageLink(
        request,
        page,
        tokens.map((token) => token.id),
      );
      return { status: 200, headers, body: tokens.map(viewToken) };
    },
  },
  'POST /api/v1/tokens': {
    body: 'json',
    run: async (request) => {
      const asked = validateBody(tokenRequest, TOKEN_READ_ONLY, request.body);
      const bearer = newToken();
      const token = await createToken({
        name: asked.name,
        scope: asked.scope,
        expiresAt: asked['expires-at'] === null ? null : new Date(asked['expires-at']).toISOString(),
        createdAt: request.now.toISOString(),
        hash: hashToken(bearer),
      });
      if (token === undefined) throw new Problem('busy', 'chance gave the same token twice');
      return {
        status: 201,
        headers: { location: `/api/v1/tokens/${token.id}` },
        body: { ...viewToken(token), token: bearer },
      };
    },
  },
  'DELETE /api/v1/tokens/{tokenId}': {
    body: 'none',
    run: async (request) => {
      await removeToken(idParameter(request, 'tokenId'), request.now.getTime());
      return { status: 204 };
    },
  },
});
