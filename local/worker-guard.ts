/**
 * Preloaded (`node --import`) into the worker of the local run, which is the very program that runs on Fargate: here its
 * AWS calls pass the quota guard, in the worker's name.
 */
import { guardCalls } from './aws.ts';
import { keepCallCounts } from './call-counts.ts';

keepCallCounts(guardCalls(() => 'worker'));
