import { AsyncLocalStorage } from 'node:async_hooks';
import type { Principal } from '../contract/grants.ts';

const principals = new AsyncLocalStorage<Principal>();

/** Runs `work`, and everything it awaits, in the name of `principal`: the quota guard then knows whose grants count. */
export function runAs<Result>(principal: Principal, work: () => Result): Result {
  return principals.run(principal, work);
}

/** In whose name the code that asks runs; undefined outside `runAs`. */
export function currentPrincipal(): Principal | undefined {
  return principals.getStore();
}
