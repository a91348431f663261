import { subscriptionAnswer } from '../../core/subscription-answer.ts';
import { SUBSCRIPTION_READ_ONLY, subscriptionConfiguration } from '../../core/subscription-request.ts';
import { type NamedRequest, type NamedSchema, type OperationDocuments, PAGE } from '../operation.ts';

const SUBSCRIPTION: NamedSchema = { name: 'Subscription', schema: subscriptionAnswer };
const REQUEST: NamedRequest = {
  name: 'SubscriptionRequest',
  schema: subscriptionConfiguration,
  readOnly: SUBSCRIPTION_READ_ONLY,
};

export const SUBSCRIPTION_OPERATIONS: OperationDocuments = {
  'GET /api/v1/subscriptions': {
    id: 'listSubscriptions',
    summary: 'List the subscriptions',
    query: PAGE,
    answer: {
      status: 200,
      description: 'The subscriptions in the order of their ids',
      body: SUBSCRIPTION,
      isList: true,
      headers: ['Link'],
    },
  },
  'POST /api/v1/subscriptions': {
    id: 'createSubscription',
    summary: 'Create a subscription',
    description: 'Collects a model from the devices that `devices` names by id or selects by label.',
    request: REQUEST,
    answer: {
      status: 201,
      description: 'The subscription',
      body: SUBSCRIPTION,
      headers: ['ETag', 'Location'],
    },
    problems: ['conflict'],
  },
  'GET /api/v1/subscriptions/{subscriptionId}': {
    id: 'getSubscription',
    summary: 'Show a subscription and how it goes on each device',
    answer: { status: 200, description: 'The subscription', body: SUBSCRIPTION, headers: ['ETag'] },
  },
  'PUT /api/v1/subscriptions/{subscriptionId}': {
    id: 'replaceSubscription',
    summary: 'Replace a subscription',
    description: 'Full replace: what is omitted takes its zero value.',
    isConditional: true,
    request: REQUEST,
    answer: { status: 200, description: 'The subscription', body: SUBSCRIPTION, headers: ['ETag'] },
    problems: ['conflict'],
  },
  'DELETE /api/v1/subscriptions/{subscriptionId}': {
    id: 'deleteSubscription',
    summary: 'Delete a subscription',
    isConditional: true,
    answer: { status: 204, description: 'The subscription is gone' },
  },
};
