import { Problem } from '../core/problem.ts';
import type { ApiRequest, ApiResponse, Operations } from './http.ts';
import {
  entityTag,
  idParameter,
  nextPageLink,
  type Page,
  readPage,
  refuseUnknownParameters,
  requireMatch,
  retryUnlessConditional,
} from './preconditions.ts';

/** A kind of resource that is created, read, replaced whole and removed under `path` and `path/{parameter}`. */
export interface Resource<Stored extends { readonly id: number; readonly revision: number }, Asked> {
  /** As `contract/routes.ts` has it. */
  readonly path: string;
  readonly parameter: string;
  /** For sentences: "there is no device 7". */
  readonly noun: string;
  /** The configuration that a body asks for; throws the Problem that names all that is wrong with it. */
  validate(body: unknown): Asked;
  list(page: Page): Promise<Stored[]>;
  get(id: number): Promise<Stored | undefined>;
  create(asked: Asked): Promise<Stored>;
  /** Full replace: a new revision only when something is different, so that a body given back changes nothing. */
  replace(previous: Stored, asked: Asked): Promise<Stored>;
  remove(stored: Stored): Promise<void>;
  /** What people see, with what the engine has observed of it. */
  view(stored: Stored, request: ApiRequest): Promise<unknown>;
  /** `view` of what was made a moment ago, where that needs less reading; else `view`. */
  viewNew?(created: Stored, request: ApiRequest): Promise<unknown>;
  viewAll(stored: readonly Stored[], request: ApiRequest): Promise<unknown[]>;
}

/** The five operations of a resource: list, create, read, replace, remove. */
export function resourceOperations<Stored extends { readonly id: number; readonly revision: number }, Asked>(
  resource: Resource<Stored, Asked>,
): Operations {
  const { path } = resource;
  const one = `${path}/{${resource.parameter}}`;
  const answerWith = async (stored: Stored, request: ApiRequest): Promise<ApiResponse> => ({
    status: 200,
    headers: { etag: entityTag(stored.revision) },
    body: await resource.view(stored, request),
  });

  return {
    [`GET ${path}`]: {
      body: 'none',
      run: async (request) => {
        const page = readPage(request);
        const stored = await resource.list(page);
        const ids = stored.map(({ id }) => id);
        const body = await resource.viewAll(stored, request);
        return { status: 200, headers: nextPageLink(request, page, ids), body };
      },
    },

    [`POST ${path}`]: {
      body: 'json',
      run: async (request) => {
        const created = await resource.create(resource.validate(request.body));
        return {
          status: 201,
          headers: { etag: entityTag(created.revision), location: `${path}/${created.id}` },
          body: await (resource.viewNew ?? resource.view)(created, request),
        };
      },
    },

    [`GET ${one}`]: {
      body: 'none',
      run: async (request) => {
        refuseUnknownParameters(request, []);
        return answerWith(await existing(resource, request), request);
      },
    },

    [`PUT ${one}`]: {
      body: 'json',
      run: async (request) => {
        const asked = resource.validate(request.body);
        const replaced = await retryUnlessConditional(request, async () => {
          const previous = await existing(resource, request);
          requireMatch(request, previous.revision);
          return resource.replace(previous, asked);
        });
        return answerWith(replaced, request);
      },
    },

    [`DELETE ${one}`]: {
      body: 'none',
      run: async (request) => {
        await retryUnlessConditional(request, async () => {
          const stored = await existing(resource, request);
          requireMatch(request, stored.revision);
          await resource.remove(stored);
        });
        return { status: 204 };
      },
    },
  };
}

/** The resource that the path names; 404 when there is none. */
export async function existing<Stored>(
  resource: {
    readonly parameter: string;
    readonly noun: string;
    get(id: number): Promise<Stored | undefined>;
  },
  request: ApiRequest,
): Promise<Stored> {
  const id = idParameter(request, resource.parameter);
  const stored = await resource.get(id);
  if (stored === undefined) throw new Problem('not-found', `there is no ${resource.noun} ${id}`);
  return stored;
}
