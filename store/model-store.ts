import { CONFIG_KEYS } from '../contract/tables.ts';
import type { Model } from '../core/model.ts';
import { resourceStore } from './resource-store.ts';
import { closeUse, openUse } from './use-store.ts';

const models = resourceStore<Model>({
  kind: 'model',
  partition: CONFIG_KEYS.models,
  key: CONFIG_KEYS.model,
  identity: ({ name, version }) => CONFIG_KEYS.modelIdentity(name, version),
  identityIs: 'this name and version',
  mayHaveBeen: 'changed, removed or taken into use',
  fromItem: ({ pk: _pk, sk: _sk, v: _v, ...model }) => model as unknown as Model,
});

/** Throws a `conflict` Problem when another model has its name and version. */
export const createModel = (model: Model): Promise<void> =>
  models.create(model, [openUse('model', model.id)]);
/** As `ResourceStore.replace`. */
export const replaceModel = models.replace;
export const getModel = models.get;
export const listModels = models.list;

/** Removes a model unless `refuseUsed` throws, also when a use begins meanwhile. */
export async function removeModel(model: Model, refuseUsed: () => Promise<void>): Promise<void> {
  const use = await closeUse('model', model.id);
  await refuseUsed();
  await models.remove(model, [use]);
}
